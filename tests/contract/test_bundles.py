"""Bundles: refused when they are damaged or locked, planned before they are written, and never bringing back what was forgotten."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.custody import Fate
from lean_memory.errors import DamagedFileError, InvalidInputError, NewerSchemaError, NotFoundError, StorageError
from support.embedding import WordEmbedder
from support.statements import day


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.add("ana", "I work at Acme Corp.", t_ref=day(1))
    memory.add("ana", "I now work at Globex.", t_ref=day(2))
    memory.add("ana", "I like pears. My cat is called Zebulon.", t_ref=day(3))
    return memory


@pytest.fixture
def bundle(filled: Memory, tmp_path: Path) -> Path:
    path = tmp_path / "ana.leanmem"
    filled.export("ana", path)
    return path


def _remade(bundle: Path, change: dict[str, object] | None = None, lines: list[str] | None = None) -> None:
    with zipfile.ZipFile(bundle) as old:
        manifest, records = json.loads(old.read("manifest.json")), old.read("records.jsonl").decode()
    with zipfile.ZipFile(bundle, "w") as new:
        new.writestr("records.jsonl", records if lines is None else "\n".join(lines) + "\n")
        new.writestr("manifest.json", json.dumps({**manifest, **(change or {})}))


def test_a_bundle_is_a_zip_of_json_lines_that_tells_the_four_times(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        manifest = json.loads(opened.read("manifest.json"))
        records = [json.loads(line) for line in opened.read("records.jsonl").splitlines()]
    assert (manifest["format"], manifest["version"], manifest["namespace"]) == ("lean-memory bundle", 1, "ana")
    facts = [record for record in records if record["kind"] == "fact"]
    assert len(facts) == manifest["counts"]["fact"] == 4
    assert all({"valid_at", "valid_to", "recorded_at", "retired_at"} <= fact.keys() for fact in facts)
    assert bundle.stat().st_mode & 0o077 == 0


def test_any_damage_is_refused_and_nothing_is_written(bundle: Path, tmp_path: Path) -> None:
    whole, chance = bundle.read_bytes(), random.Random(3)
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        for _ in range(25):
            broken = bytearray(whole)
            at = chance.randrange(len(whole))
            if chance.random() < 0.5:
                broken = broken[:at]
            else:
                broken[at] ^= 1 << chance.randrange(8)
            bundle.write_bytes(broken)
            try:
                other.import_(bundle)
            except DamagedFileError as error:
                assert "othing of it was used" in str(error) or "not used" in str(error)
            # A flag or a time of the zip's own that changes no byte of what it holds may go unnoticed.
        assert other.namespaces() == []
        bundle.write_bytes(whole)
        other.import_(bundle, apply=True)
        assert len(other.facts("ana")) == 3


def test_records_that_make_no_sound_memory_are_refused(bundle: Path, tmp_path: Path) -> None:
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        _remade(bundle, {"version": 2})
        with pytest.raises(NewerSchemaError, match="another version"):
            other.import_(bundle)
        _remade(bundle, {"version": 1, "schema_version": 99})
        with pytest.raises(NewerSchemaError, match="newer"):
            other.import_(bundle)
        _remade(bundle, {"schema_version": 2, "records": 1, "counts": {}, "sha256": ""}, ["[]"])
        with pytest.raises(DamagedFileError, match="damaged"):
            other.import_(bundle)
        with pytest.raises(NotFoundError, match="There is no"):
            other.import_(tmp_path / "nowhere.leanmem")
        assert other.namespaces() == []


def test_a_sealed_bundle_opens_with_its_passphrase_alone(filled: Memory, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.leanmem"
    assert filled.export("ana", sealed, passphrase="correct horse").is_sealed
    assert b"Globex" not in sealed.read_bytes()
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        with pytest.raises(InvalidInputError, match="under a passphrase"):
            other.import_(sealed)
        with pytest.raises(InvalidInputError, match="not the bundle's passphrase"):
            other.import_(sealed, passphrase="wrong horse")
        other.import_(sealed, passphrase="correct horse", apply=True)
        assert other.facts("ana") == filled.facts("ana")
        whole = sealed.read_bytes()
        for broken in (whole[:-1], whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:], whole[:20]):
            sealed.write_bytes(broken)
            with pytest.raises((DamagedFileError, InvalidInputError)):
                other.import_(sealed, passphrase="correct horse")
    with pytest.raises(InvalidInputError, match="cannot be empty"):
        filled.export("ana", sealed, passphrase="")


def test_what_was_forgotten_here_is_not_brought_back(filled: Memory, bundle: Path) -> None:
    filled.forget("ana", fact_id=next(fact.id for fact in filled.facts("ana") if "pears" in fact.fact_text))
    filled.forget("ana", entity="Zebulon")
    done = filled.import_(bundle, apply=True)
    assert (done.episodes, done.parts, done.forgotten) == (0, (), 2)
    assert [fact.fact_text for fact in filled.facts("ana")] == ["I now work at Globex."]
    filled.close()
    assert b"zebulon" not in (filled.root / "ana.memory.db").read_bytes().lower()


def test_what_went_on_comes_and_what_contradicts_is_told_and_stays(filled: Memory, bundle: Path, tmp_path: Path) -> None:
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        other.import_(bundle, apply=True)
        filled.add("ana", "I now work at Initech.", t_ref=day(4))
        filled.add("ana", "I live in Porto.", t_ref=day(4))
        other.add("ana", "I now work at Hooli.", t_ref=day(4))
        filled.export("ana", bundle)
        planned = other.import_(bundle)
        (conflict,) = planned.of(Fate.CONFLICT)
        assert (conflict.predicate, conflict.here, conflict.there) == ("works_at", ("I now work at Hooli.",), ("I now work at Initech.",))
        assert [part.there for part in planned.of(Fate.ADD)] == [("I live in Porto.",)]
        done = other.import_(bundle, apply=True)
        assert {"I live in Porto.", "I now work at Hooli."} <= {fact.fact_text for fact in other.facts("ana")}
        assert other.search("ana", "Initech")[0].source == "I now work at Initech."
        assert done.kept_aside is not None
        other.restore(done.kept_aside)
        assert "I live in Porto." not in {fact.fact_text for fact in other.facts("ana")}


def test_a_bundle_may_come_under_another_name_beside_what_is_here(filled: Memory, bundle: Path) -> None:
    filled.import_(bundle, namespace="copy", apply=True)
    assert [fact.fact_text for fact in filled.facts("copy")] == [fact.fact_text for fact in filled.facts("ana")]
    assert filled.namespaces() == ["ana", "copy"]
    assert filled.check("copy") == []


def test_the_text_for_people_tells_what_holds_and_what_was_said(filled: Memory, tmp_path: Path) -> None:
    filled.add("ana", "I like `code` and *stars*.", t_ref=day(3))
    filled.export("ana", tmp_path / "ana.md")
    text = (tmp_path / "ana.md").read_text(encoding="utf-8")
    assert "- I now work at Globex. (since 2023-11-16)" in text
    assert "no longer current: superseded" in text
    assert "\\*stars\\*" in text


@pytest.mark.parametrize("path", ["", " ", "/", "..", "a\x00b", "\ud800", 7, None])
def test_what_cannot_be_a_file_is_refused_with_a_sentence(filled: Memory, path: object) -> None:
    for verb in (lambda: filled.export("ana", path), lambda: filled.import_(path), lambda: filled.restore(path)):
        with pytest.raises(InvalidInputError):
            verb()


def test_a_folder_in_the_way_or_missing_is_told_of(filled: Memory, tmp_path: Path) -> None:
    (tmp_path / "taken.leanmem").mkdir()
    for path in (tmp_path / "taken.leanmem", tmp_path / "no" / "such.leanmem"):
        with pytest.raises((StorageError, NotFoundError)):
            filled.export("ana", path)
    with pytest.raises(StorageError):
        filled.import_(tmp_path / "taken.leanmem")
    for verb in (filled.import_, filled.restore, lambda path: filled.export("ana", path)):
        with pytest.raises(InvalidInputError, match="too long"):
            verb("0" * 3000)
    with pytest.raises(StorageError):
        filled.backup("0" * 3000)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_export_takes_the_place_of_an_export_and_of_no_other_file(filled: Memory, tmp_path: Path) -> None:
    earlier = tmp_path / "ana.leanmem", tmp_path / "sealed.leanmem", tmp_path / "ana.md"
    for _ in range(2):
        for path in earlier:
            filled.export("ana", path, passphrase="correct horse" if path.stem == "sealed" else None)
    with zipfile.ZipFile(tmp_path / "letter.docx", "w") as letter:
        letter.writestr("[Content_Types].xml", "<Types/>")
    (tmp_path / "notes.md").write_text("# What I must not lose\n", encoding="utf-8")
    for name in ("letter.docx", "notes.md"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InvalidInputError, match="no export of Lean Memory"):
            filled.export("ana", tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    (tmp_path / "empty.md").touch()
    assert filled.export("ana", tmp_path / "empty.md").facts


@pytest.mark.parametrize("edit", ["A note of mine.\n", "", "\n<!-- Lean Memory wrote this: 0 -->\n"])
def test_a_text_for_people_that_somebody_has_changed_is_not_replaced(filled: Memory, tmp_path: Path, edit: str) -> None:
    path = tmp_path / "ana.md"
    filled.export("ana", path)
    written = path.read_text(encoding="utf-8")
    changed = written + edit if edit else written.replace("Globex", "Globex, in Rome", 1)
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(InvalidInputError, match="changed since"):
        filled.export("ana", path)
    assert path.read_text(encoding="utf-8") == changed


def test_a_text_for_people_of_an_earlier_version_is_not_said_to_be_changed(filled: Memory, tmp_path: Path) -> None:
    path = tmp_path / "ana.md"
    filled.export("ana", path)
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="changed since, or was written by an earlier version, and what was changed"):
        filled.export("ana", path)

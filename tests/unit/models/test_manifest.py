"""The list of models is data that holds together."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.errors import InvalidInputError, ModelError
from lean_memory.models.manifest import BUILTIN, Role, read_manifest

HEAD = """
[tiers]
standard = ["org/a"]
[[models]]
id = "org/a"
revision = "0123"
role = "embedder"
architecture = "tiny"
licence = "MIT"
"""
FILES = 'files = [{ path = "config.json", size = 2 }]\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "models.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_standard_tier_has_one_model_for_each_role_and_each_is_pinned_and_free() -> None:
    tier = read_manifest().tier("standard")
    assert list(tier.models) == [Role.EMBEDDER, Role.RERANKER, Role.EXTRACTOR]
    for model in tier.models.values():
        assert len(model.revision) == 40
        assert model.licence == "Apache-2.0"
        assert model.identity.model_id == model.model_id
    assert 2_000_000_000 < tier.size < 2_500_000_000


def test_only_the_model_that_was_trained_for_it_has_a_prefix_that_stands_for_the_whole() -> None:
    models = read_manifest().tier("standard").models
    assert (models[Role.EMBEDDER].dims, models[Role.EMBEDDER].identity.coarse_dims) == (1024, 256)
    assert models[Role.RERANKER].prefix is None
    assert models[Role.EXTRACTOR].prefix is None


def test_a_question_has_its_prompt_to_the_byte_and_a_stored_text_has_none() -> None:
    embedder = read_manifest().tier("standard").models[Role.EMBEDDER]
    assert embedder.query_prompt.encode() == (
        b"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    )
    assert embedder.text_prompt == ""


def test_the_builtin_tier_needs_nothing() -> None:
    assert read_manifest().tier(BUILTIN).size == 0


def test_a_tier_that_is_in_no_list_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidInputError, match="no tier 'huge'; there are: builtin, standard"):
        read_manifest().tier("huge")


def test_another_list_in_the_same_form_can_be_used(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, HEAD + "dims = 4\n" + FILES))
    assert manifest.tier("standard").models[Role.EMBEDDER].files[0].size == 2
    assert [spec.model_id for spec in manifest.tier("standard").models.values()] == ["org/a"]


@pytest.mark.parametrize(
    "text",
    [
        "tiers = 1",
        HEAD + FILES,
        HEAD + "dims = 4\nfiles = []",
        HEAD + "dims = 4\nprefix = 5\n" + FILES,
        HEAD + 'dims = 4\nfiles = [{ path = "../config.json", size = 2 }]',
        HEAD + 'dims = 4\nfiles = [{ path = "/etc/passwd", size = 2 }]',
        HEAD + 'dims = 4\nfiles = [{ path = "a\\\\b", size = 2 }]',
        HEAD + 'dims = 4\nfiles = [{ path = "config.json" }]',
        HEAD + 'dims = 4\nfiles = [{ path = "config.json", size = 2, sha256 = "abc" }]',
        HEAD + 'dims = 4\nfiles = [{ path = "a", size = 2 }, { path = "A", size = 2 }]',
        HEAD.replace('"org/a"', '"org/../a"') + "dims = 4\n" + FILES,
        HEAD.replace('"0123"', '"../0123"') + "dims = 4\n" + FILES,
        HEAD.replace('["org/a"]', '["org/a", "org/b"]') + "dims = 4\n" + FILES,
        HEAD + "dims = 4\nsurprise = 1\n" + FILES,
        HEAD + "dims = 4.5\n" + FILES,
        HEAD + 'dims = 4\nmax_tokens = "many"\n' + FILES,
        f"tiers = {'[' * 100_000}",
    ],
)
def test_a_list_that_does_not_hold_together_or_leads_outside_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelError, match=r"cannot be used .*; no model was touched"):
        read_manifest(written(tmp_path, text))


def test_a_list_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        read_manifest(tmp_path / "none.toml")

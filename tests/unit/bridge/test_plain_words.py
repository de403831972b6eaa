"""What is wrong with an argument is said in one sentence that names it, in our words and without what it held; half characters are found."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lean_memory_bridge.arguments import sentence
from lean_memory_bridge.half_characters import mended


class Item(BaseModel):
    text: str


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=2000)]
    k: Annotated[int, Field(ge=1, le=50)] = 5
    as_of: int | str | None = None
    source: Literal["user", "doc"] = "user"
    items: list[Item] = Field(default_factory=list[Item], max_length=2)
    is_new: bool = False


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`query` is missing."),
        ({"query": ""}, "`query` may not be empty."),
        ({"query": "x" * 2001}, "`query` may have at most 2,000 characters."),
        ({"query": 5}, "`query` must be text."),
        ({"query": "secret \ud83d"}, "`query` holds half a character (a lone surrogate): re-encode it and try again."),
        ({"query": "x", "k": 51}, "`k` may be at most 50."),
        ({"query": "x", "k": 0}, "`k` must be at least 1."),
        ({"query": "x", "k": "secret"}, "`k` must be a whole number."),
        ({"query": "x", "as_of": ["secret"]}, "`as_of` must be a whole number or text."),
        ({"query": "x", "source": "secret"}, "`source` must be 'user' or 'doc'."),
        ({"query": "x", "items": {}}, "`items` must be a list."),
        ({"query": "x", "items": [{}]}, "`items.0.text` is missing."),
        ({"query": "x", "items": [{"text": "a"}] * 3}, "`items` may have at most 2 entries."),
        ({"query": "x", "is_new": "secret"}, "`is_new` must be true or false."),
        ({"query": "x", "namspace": "secret"}, "`namspace` is not known here."),
        ({"k": 99}, "`query` is missing; `k` may be at most 50."),
    ],
)
def test_each_mistake_has_its_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Asked.model_validate(given)
    assert sentence(caught.value.errors()) == f"{said} Nothing was done."


@pytest.mark.parametrize(
    ("text", "mended_to"),
    [
        (rb'"tea \ud83d"', '"tea \ufffd"'),
        (rb'"\ude00 tea"', '"\ufffd tea"'),
        (rb'"\ud83d\ud83d\ude00"', '"\ufffd\U0001f600"'),
        (b'"raw \xed\xa0\xbd"', '"raw \ufffd"'),
    ],
)
def test_half_a_character_becomes_the_replacement_of_the_same_length(text: bytes, mended_to: str) -> None:
    body, was_half = mended(text)
    assert was_half
    assert len(body) == len(text)
    assert json.loads(body) == json.loads(json.dumps(mended_to[1:-1]))


@pytest.mark.parametrize("text", [rb'"\ud83d\ude00"', rb'"C:\\ud83d"', rb'"\\\\ud83d \\"', '"한 🎡"'.encode(), b"no JSON \\"])
def test_what_is_whole_stays_as_it_is(text: bytes) -> None:
    assert mended(text) == (text, False)


@pytest.mark.parametrize(
    ("body", "is_mended"),
    [
        (rb'"\ud83d\ude00"', False),
        (rb'"\ud83d"', True),
        (rb'"\ude00"', True),
        (rb'"\\ud83d\ude00"', True),
        (rb'"\ud83d\ud83d\ude00"', True),
        (rb'"\\ud83d"', False),
        (b'"\xed\xa0\xbd"', True),
    ],
)
def test_only_half_characters_are_replaced(body: bytes, is_mended: bool) -> None:
    assert mended(body)[1] is is_mended

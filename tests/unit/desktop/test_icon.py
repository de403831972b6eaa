"""The icon as pixels."""

from __future__ import annotations

import itertools

import pytest
from PIL import Image

from lean_memory_desktop.icon import draw
from lean_memory_desktop.state import Mood, Panel

SIZES = (16, 20, 22, 24, 32, 48, 64)


def shown(mood: Mood, count: int, size: int, panel: Panel) -> Image.Image:
    ground = {Panel.LIGHT: (240, 240, 240), Panel.DARK: (30, 30, 30), Panel.UNKNOWN: (128, 128, 128)}[panel]
    under = Image.new("RGB", (size, size), ground)
    icon = draw(mood, count, size, panel)
    under.paste(icon, (0, 0), icon)
    return under


@pytest.mark.parametrize("panel", Panel)
@pytest.mark.parametrize("size", SIZES)
def test_every_state_looks_different_at_every_size(size: int, panel: Panel) -> None:
    pictures = [shown(mood, count, size, panel) for mood, count in [*((mood, 3) for mood in Mood), (Mood.REVIEW, 4), (Mood.REVIEW, 10)]]
    assert all(picture.size == (size, size) for picture in pictures)
    assert all(a.tobytes() != b.tobytes() for a, b in itertools.combinations(pictures, 2))


def test_from_ten_on_the_count_is_told_as_many() -> None:
    assert draw(Mood.REVIEW, 10, 24, Panel.DARK).tobytes() == draw(Mood.REVIEW, 250, 24, Panel.DARK).tobytes()


@pytest.mark.parametrize("size", SIZES)
def test_it_stands_out_from_light_and_dark_panels(size: int) -> None:
    for panel in (Panel.LIGHT, Panel.DARK):
        low, high = shown(Mood.FINE, 0, size, panel).convert("L").getextrema()
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        assert high - low > 180


def test_its_upright_lines_fall_on_whole_pixels_of_a_usual_panel() -> None:
    row = draw(Mood.FINE, 0, 24, Panel.DARK).getchannel("A").crop((0, 14, 8, 15))
    assert sorted(set(row.tobytes()))[0] == 0
    assert sum(1 for alpha in row.tobytes() if alpha > 240) == 2

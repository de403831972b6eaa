"""The tray's icon, drawn for the size and the panel it is to stand on."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from lean_memory_desktop.state import Mood, Panel

_FINER = 8
"""How many times finer than the pixels shapes are drawn before they are scaled down; gives smooth edges at every size."""
_GRID = 24
"""The shapes are laid out on so many units, the size of most panels' icons, so that they fall on whole pixels there."""

Colour = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inks:
    ground: Colour
    line: Colour


_GREEN: Colour = (29, 106, 91, 255)
_GREY: Colour = (108, 112, 117, 255)
_RED: Colour = (190, 30, 45, 255)
_AMBER: Colour = (181, 84, 0, 255)
_BLUE: Colour = (11, 95, 190, 255)
_WHITE: Colour = (255, 255, 255, 255)
_NEARLY_BLACK: Colour = (28, 32, 35, 255)
_CLEAR: Colour = (0, 0, 0, 0)


def draw(mood: Mood, count: int, size: int, panel: Panel) -> Image.Image:
    """The icon as `size` times `size` pixels with transparency. `count` is shown for `Mood.REVIEW`, as 9+ from ten on."""
    fine = size * _FINER
    image = Image.new("RGBA", (fine, fine), _CLEAR)
    pen = _Pen(ImageDraw.Draw(image), fine / _GRID)
    inks = _inks(mood, panel)
    pen.tile(inks.ground)
    pen.arch(inks.line)
    if mood is Mood.REVIEW:
        pen.badge(_AMBER, "9+" if count > 9 else str(count))
    elif mood is Mood.TROUBLE:
        pen.badge(_RED, "!")
    elif mood is Mood.PAUSED:
        pen.bars(_GREY if panel is not Panel.UNKNOWN else _NEARLY_BLACK)
    elif mood is Mood.WORKING:
        pen.dots(_BLUE)
    return image.resize((size, size), Image.Resampling.LANCZOS)


def _inks(mood: Mood, panel: Panel) -> _Inks:
    if panel is Panel.UNKNOWN:
        return _Inks(ground=_GREY if mood is Mood.PAUSED else _GREEN, line=_WHITE)
    return _Inks(ground=_CLEAR, line=_NEARLY_BLACK if panel is Panel.LIGHT else _WHITE)


class _Pen:
    """Draws on the grid; `unit` is the length of one of its steps in pixels."""

    def __init__(self, canvas: ImageDraw.ImageDraw, unit: float) -> None:
        self._canvas, self._unit = canvas, unit

    def tile(self, ground: Colour) -> None:
        if ground != _CLEAR:
            self._canvas.rounded_rectangle(self._box(1, 1, 23, 23), radius=6 * self._unit, fill=ground)

    def arch(self, line: Colour) -> None:
        """The sign of the memory: an arch over a point."""
        wide = round(2 * self._unit)
        self._canvas.arc(self._box(5, 4, 17, 16), 180, 360, fill=line, width=wide)
        for left in (5, 15):
            self._canvas.rectangle(self._box(left, 10, left + 2, 17), fill=line)
        self._canvas.ellipse(self._box(8.5, 12, 13.5, 17), fill=line)

    def badge(self, ground: Colour, sign: str) -> None:
        """A sign in the lower right corner, on a disc that is cut out of whatever lies below it."""
        self._canvas.ellipse(self._box(9, 9, 24, 24), fill=_CLEAR)
        self._canvas.ellipse(self._box(10, 10, 24, 24), fill=ground)
        font = ImageFont.load_default(size=(8 if len(sign) > 1 else 11) * self._unit)
        self._canvas.text((17 * self._unit, 17.2 * self._unit), sign, fill=_WHITE, font=font, anchor="mm", stroke_width=0.4 * self._unit)

    def bars(self, ground: Colour) -> None:
        self._canvas.ellipse(self._box(9, 9, 24, 24), fill=_CLEAR)
        self._canvas.ellipse(self._box(10, 10, 24, 24), fill=ground)
        for left in (14, 18):
            self._canvas.rectangle(self._box(left, 13, left + 2, 21), fill=_WHITE)

    def dots(self, ground: Colour) -> None:
        self._canvas.ellipse(self._box(9, 9, 24, 24), fill=_CLEAR)
        self._canvas.ellipse(self._box(10, 10, 24, 24), fill=ground)
        for left in (12, 16, 20):
            self._canvas.ellipse(self._box(left, 16, left + 2, 18), fill=_WHITE)

    def _box(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        unit = self._unit
        # Pillow counts the last pixel in.
        return left * unit, top * unit, right * unit - 1, bottom * unit - 1

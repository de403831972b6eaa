"""The app's icon in the forms that each system wants, drawn by the program itself so that there is one drawing and no picture to keep."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from lean_memory_desktop.icon import draw
from lean_memory_desktop.state import Mood, Panel

ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_SIZES = (16, 32, 64, 128, 256, 512)
PNG_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def picture(size: int) -> Image.Image:
    """The icon on a ground of its own, `size` times `size` pixels."""
    return draw(Mood.FINE, 0, size, Panel.UNKNOWN)


def write_ico(path: Path) -> None:
    """Windows: one file, each size drawn for itself."""
    largest, *others = [picture(size) for size in reversed(ICO_SIZES)]
    largest.save(path, format="ICO", sizes=[(size, size) for size in ICO_SIZES], append_images=others)


def write_icns(path: Path) -> None:
    """macOS: one file, each size drawn for itself but the largest, 1024, which is the second one enlarged."""
    largest, *others = [picture(size) for size in reversed(ICNS_SIZES)]
    largest.save(path, format="ICNS", append_images=others)


def write_pngs(folder: Path, name: str) -> None:
    """Linux: `<size>x<size>/apps/<name>.png` below the folder of an icon theme."""
    for size in PNG_SIZES:
        target = folder / f"{size}x{size}" / "apps"
        target.mkdir(parents=True, exist_ok=True)
        picture(size).save(target / f"{name}.png", format="PNG")

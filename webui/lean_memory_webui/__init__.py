"""The page that the service serves: static files, without a build step, and where they lie."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""`index.html`, which is served at `/`, and everything that is served under `/static/`."""

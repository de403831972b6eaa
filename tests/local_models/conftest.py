"""Tests of the models that need torch, in an environment of their own: `.ci/run` makes it. Elsewhere nothing here is collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("gliner2") else ["test_*.py"]

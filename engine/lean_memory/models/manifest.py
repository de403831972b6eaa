"""The models of each tier as data: where they come from, which files they are, and how they want to be asked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import cast

from lean_memory.domain import ModelIdentity
from lean_memory.errors import InvalidInputError, ModelError
from lean_memory.models.ports import CosineThresholds

MANIFEST = Path(__file__).with_name("manifest.toml")
BUILTIN = "builtin"
"""The tier that needs no download: the embedder that comes with the package, alone."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_REVISION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


class Role(StrEnum):
    """What a model does; a tier has at most one of each. The order is that in which they are worth having."""

    EMBEDDER = "embedder"
    RERANKER = "reranker"
    EXTRACTOR = "extractor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model; `path` is relative, with slashes, and stays inside the model's folder."""

    path: str
    size: int
    """Bytes; where `size_is_estimate`, good enough for progress and no more."""
    sha256: str | None = None
    """Hex; `None` where no published figure is known, so that the first download is trusted and recorded."""
    size_is_estimate: bool = False
    optional: bool = False
    """Not every revision of such a repository has it; its absence is no failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Files that are given out together, pinned."""

    model_id: str
    """A model's repository on the hub, `owner/name`, or what else they are called in that form."""
    revision: str
    licence: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all of them, estimates included."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec(Published):
    """A pinned model. `dims`, `prefix`, the prompts and the thresholds mean something for an embedder only."""

    role: Role
    architecture: str
    """What kind of network it is, e.g. `qwen3`, `modernbert`, `gliner2`."""
    dims: int = 0
    prefix: int | None = None
    """Matryoshka: how many leading components, renormalised, stand for the whole; `None` where it was not trained so."""
    query_prompt: str = ""
    """Put before a question, as it is."""
    text_prompt: str = ""
    """Put before a stored text, as it is."""
    max_tokens: int | None = None
    """Where a text is cut; `None` leaves it to the model."""
    thresholds: CosineThresholds | None = None
    """`None` until they were measured for this model."""

    @property
    def identity(self) -> ModelIdentity:
        """What is recorded beside everything this model makes."""
        return ModelIdentity(model_id=self.model_id, revision=self.revision, dims=self.dims, prefix=self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSpec:
    """A set of models that work together. The built-in embedder belongs to every tier and is in no list."""

    name: str
    models: Mapping[Role, ModelSpec]

    @property
    def size(self) -> int:
        """Bytes to download when nothing is there yet, estimates included."""
        return sum(model.size for model in self.models.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Every tier that can be had."""

    tiers: Mapping[str, TierSpec]

    def tier(self, name: str) -> TierSpec:
        """The tier of that name. Raises `InvalidInputError` naming those there are."""
        found = self.tiers.get(name)
        if found is None:
            raise InvalidInputError(f"There is no tier {name!r}; there are: {', '.join(self.tiers)}.")
        return found


def read_manifest(path: Path | None = None) -> Manifest:
    """The manifest that comes with the package, or another in the same form. Raises `ModelError` where it cannot be used."""
    where = path or MANIFEST
    try:
        written = tomllib.loads(where.read_text("utf-8"))
        models = [_model(entry) for entry in written["models"]]
        by_id = {model.model_id: model for model in models}
        tiers = {name: _tier(name, [by_id[model_id] for model_id in ids]) for name, ids in written["tiers"].items()}
    except OSError as error:
        raise ModelError(f"The list of models {where} cannot be read ({error.strerror}); no model was touched.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"The list of models {where} cannot be used ({error}); no model was touched.") from error
    return Manifest(tiers={BUILTIN: TierSpec(name=BUILTIN, models={}), **tiers})


def _tier(name: str, models: list[ModelSpec]) -> TierSpec:
    by_role = {model.role: model for model in sorted(models, key=lambda model: list(Role).index(model.role))}
    if len(by_role) != len(models):
        raise ValueError(f"tier {name} has two models of one role")
    if not _REVISION.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a tier")
    return TierSpec(name=name, models=by_role)


def _model(entry: Mapping[str, object]) -> ModelSpec:
    given = dict(entry)
    role = Role(cast("str", given.pop("role")))
    files = tuple(_file(file) for file in cast("list[Mapping[str, object]]", given.pop("files")))
    thresholds = cast("Mapping[str, float] | None", given.pop("thresholds", None))
    spec = ModelSpec(
        model_id=_matching(_REPOSITORY, given.pop("id")),
        revision=_matching(_REVISION, given.pop("revision")),
        role=role,
        files=files,
        thresholds=CosineThresholds(**thresholds) if thresholds else None,
        **cast("dict[str, str]", given),  # pyright: ignore[reportArgumentType] - a wrong name raises, a wrong type is told below
    )
    for name, number in (("dims", spec.dims), ("prefix", spec.prefix), ("max_tokens", spec.max_tokens)):
        if number is not None and type(number) is not int:
            raise ValueError(f"{spec.model_id} has {name} that are no whole number")
    if role is Role.EMBEDDER and spec.dims < 1:
        raise ValueError(f"{spec.model_id} is an embedder without dims")
    if spec.prefix is not None and not 0 < spec.prefix <= spec.dims:
        raise ValueError(f"{spec.model_id} has a prefix of {spec.prefix} components of {spec.dims}")
    if len({file.path.lower() for file in files}) != len(files) or not files:
        raise ValueError(f"{spec.model_id} has no files, or one twice")
    return spec


def _file(entry: Mapping[str, object]) -> ModelFile:
    size, about, sha256 = entry.get("size"), entry.get("about"), entry.get("sha256")
    known = size if size is not None else about
    if not isinstance(known, int) or known < 0:
        raise ValueError(f"{entry.get('path')} has no size")
    return ModelFile(
        path=str(PurePosixPath(_matching(_FILE, entry["path"]))),
        size=known,
        sha256=None if sha256 is None else _matching(_SHA256, sha256),
        size_is_estimate=size is None,
        optional=bool(entry.get("optional", False)),
    )


def _matching(form: re.Pattern[str], value: object) -> str:
    """`value`, if it has the form: ids and paths become names of folders and files."""
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"{value!r} does not have the form of what it names")
    return value

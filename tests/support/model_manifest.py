"""A tiny list of models in the form of the real one, for a repository that a fake hub serves."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping
from pathlib import Path

from support.fake_hub import REVISION, sha256

EMBEDDER, RERANKER = "org/tiny-embedder", "org/tiny-reranker"


def weights(length: int, seed: int = 1) -> bytes:
    """Bytes that look like no others."""
    return random.Random(seed).randbytes(length)


def tiny_repositories(length: int = 100_000) -> dict[str, dict[str, bytes]]:
    """An embedder with a large file and a reranker with a small one."""
    return {
        EMBEDDER: {
            "config.json": b'{"model_type": "tiny"}',
            "1_Pooling/config.json": b'{"mode": "last"}',
            "model.safetensors": weights(length),
        },
        RERANKER: {"config.json": b'{"model_type": "tinier"}', "model.safetensors": weights(20_000, seed=2)},
    }


def write_manifest(
    path: Path, repositories: Mapping[str, Mapping[str, bytes]], *, unpublished: Collection[str] = (), optional: Collection[str] = ()
) -> Path:
    """The list of a tier `standard` of these repositories; files that are `unpublished` have neither sum nor exact length."""
    lines = ["[tiers]", f"standard = {json.dumps(list(repositories))}"]
    for model_id, files in repositories.items():
        role = {"org/tiny-embedder": "embedder", "org/tiny-reranker": "reranker"}.get(model_id, "extractor")
        lines += ["[[models]]", f'id = "{model_id}"', f'revision = "{REVISION}"', f'role = "{role}"', 'architecture = "tiny"']
        lines += ['licence = "MIT"', *(["dims = 8", "prefix = 4"] if role == "embedder" else []), "files = ["]
        for name, content in files.items():
            known = (
                f"about = {len(content) * 9 // 10 + 1}" if name in unpublished else f'size = {len(content)}, sha256 = "{sha256(content)}"'
            )
            lines.append(f'  {{ path = "{name}", {known}, optional = {str(name in optional).lower()} }},')
        lines.append("]")
    path.write_text("\n".join(lines), "utf-8")
    return path

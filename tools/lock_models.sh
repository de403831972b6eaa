#!/usr/bin/env bash
# Writes requirements/models/*.txt anew: all that larger models need, at the versions that the installers hold, one file per system and Python
# for which a pack is made. Run it after tools/lock.sh, with `uv` on the PATH. On Linux it wants torch's build without CUDA, which the common registry
# does not have: LM_TORCH names a folder or a page with its wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
pins=$(mktemp)
trap 'rm -f "$pins"' EXIT
{ sed -E '/^ +--hash/d; s/ \\$//' requirements/installers.txt && echo 'torch==2.13.0'; } >"$pins"

lock() { # lock SYSTEM PLATFORM PYTHON [arguments for uv]
    local file=requirements/models/$1-python$3.txt platform=$2 python=$3
    shift 3
    uv pip compile --quiet --upgrade --python-version "$python" --python-platform "$platform" --only-binary :all: \
        --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-build-options \
        --constraint "$pins" "$@" pyproject.toml --extra models --output-file "$file"
    echo "$file"
}

lock linux-x86_64 linux 3.11 --find-links "$LM_TORCH"
lock windows-x86_64 windows 3.13
MACOSX_DEPLOYMENT_TARGET=14.0 lock macos-arm64 aarch64-apple-darwin 3.13

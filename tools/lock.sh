#!/usr/bin/env bash
# Writes requirements/*.txt anew: every package with its hashes and no address, one file per operating system and purpose.
# Run it after a change of dependencies in pyproject.toml, with `uv` on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

lock() { # lock NAME PLATFORM [arguments for uv]
    local name=$1 platform=$2
    shift 2
    uv pip compile --quiet --upgrade --python-version 3.11 --python-platform "$platform" --only-binary :all: \
        --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-build-options \
        "$@" --output-file "requirements/$name.txt"
    echo "requirements/$name.txt"
}

for os in linux macos windows; do
    lock "$os" "$os" pyproject.toml
    lock "$os-typing" "$os" pyproject.toml --extra typing
    lock "$os-test" "$os" pyproject.toml --group test --group build
done
lock tools linux --group tools
lock linux-installers linux --group installers
# What the installers of all systems hold, for Python 3.11 and newer; what has no wheel is built when they are made.
uv pip compile --quiet --upgrade --universal --python-version 3.11 --only-binary :all: --no-binary proxy-tools \
    --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-build-options \
    pyproject.toml installers/windows/runtime.in --extra desktop --output-file requirements/installers.txt
echo requirements/installers.txt

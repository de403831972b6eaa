#!/usr/bin/env bash
# Writes requirements/*.txt anew: every package with its hashes and no address, one file per operating system and purpose.
# Run it after a change of dependencies in pyproject.toml, with `uv` on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

lock() { # lock NAME PLATFORM [arguments for uv]
    local name=$1 platform=$2
    shift 2
    uv pip compile --quiet --upgrade --python-version "${python:-3.11}" --python-platform "$platform" --only-binary :all: \
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

# The installers bring a Python of their own on Windows and macOS. proxy-tools, which pywebview needs, has no wheel; Windows lacks a runtime of C++.
python=3.12 lock windows-app windows pyproject.toml installers/windows/runtime.in --extra desktop --no-binary proxy-tools
python=3.12 MACOSX_DEPLOYMENT_TARGET=14.0 lock macos-app macos pyproject.toml --extra desktop --no-binary proxy-tools

#!/usr/bin/env bash
# Takes the page's libraries anew from their npm packages, at the versions named here, and records version, licence and hash of each file.
# Run it after changing a version, with `npm` on the PATH; nothing else of the project needs npm.
set -euo pipefail
cd "$(dirname "$0")/.."
into=$PWD/webui/lean_memory_webui/static/vendor
tests=$PWD/tests/support/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm init -y >/dev/null && npm install --silent --no-audit --no-fund \
    preact@11.2.0 @preact/signals@2.11.4 @preact/signals-core@1.14.5 htm@3.1.1 diff@9.0.0 axe-core@4.14.1)
from=$work/node_modules

take() { # take PACKAGE FILE TARGET: without the line that names a source map, which is not taken along
    mkdir -p "$(dirname "$3")"
    sed '/^\/\/# sourceMappingURL=/d' "$from/$1/$2" >"$3"
}

take preact dist/preact.mjs "$into/preact.js"
take preact hooks/dist/hooks.mjs "$into/preact-hooks.js"
take @preact/signals dist/signals.mjs "$into/signals.js"
take @preact/signals-core dist/signals-core.mjs "$into/signals-core.js"
take htm dist/htm.mjs "$into/htm.js"
take diff libesm/diff/word.js "$into/diff/diff/word.js"
take diff libesm/diff/base.js "$into/diff/diff/base.js"
take diff libesm/util/string.js "$into/diff/util/string.js"
take axe-core axe.min.js "$tests/axe.min.js"
for package in preact @preact/signals @preact/signals-core htm diff; do
    cp "$from/$package/LICENSE" "$into/LICENSE.$(basename "$package").txt"
done
cp "$from/axe-core/LICENSE" "$tests/LICENSE.axe-core.txt"

record() { # record FOLDER PACKAGE...
    local folder=$1
    shift
    echo "# Written by tools/vendor_webui.sh; the licences lie beside the files."
    for package in "$@"; do
        node -p "const p=require('$from/$package/package.json'); \`\n[[package]]\nname = \"\${p.name}\"\nversion = \"\${p.version}\"\nlicence = \"\${p.license}\"\`"
    done
    printf '\n[sha256]\n'
    (cd "$folder" && find . -type f -name '*.js' | LC_ALL=C sort | while read -r file; do
        printf '"%s" = "%s"\n' "${file#./}" "$(sha256sum "$file" | cut -d' ' -f1)"
    done)
}

record "$into" preact @preact/signals @preact/signals-core htm diff >"$work/page.toml"
record "$tests" axe-core >"$work/tests.toml"
mv "$work/page.toml" "$into/vendored.toml"
mv "$work/tests.toml" "$tests/vendored.toml"

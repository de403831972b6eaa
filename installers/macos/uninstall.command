#!/bin/sh
# Takes Lean Memory off this Mac: the login item, the entries in assistants' configurations, the program. Memories stay unless the person says so.
set -eu

home=${LEAN_MEMORY_HOME:-$HOME/Library/Application Support/Lean Memory}
data=${LM_DATA_ROOT:-$HOME/.lean_memory}
forget=
if [ ! -x "$home/env/bin/python" ]; then
    echo "Lean Memory is not installed for you. If the app is still there, move it to the Trash."
    exit 0
fi
if [ "${1:-}" = --forget-memories ]; then
    forget=--forget-memories
elif [ -t 0 ]; then
    printf 'Your memories are in %s and stay there. Type DELETE to delete them as well, or press Return: ' "$data"
    read -r answer
    [ "$answer" != DELETE ] || forget=--forget-memories
fi
# shellcheck disable=SC2086 - nothing, or one word
"$home/env/bin/python" -I "$home/setup.pyz" uninstall --home "$home" --data "$data" $forget
rm -rf "$home/python" "$home/payload.json" "$home/setup.log" "$home/.lock"
rmdir "$home" 2>/dev/null || true
echo "Now move the app Lean Memory to the Trash."

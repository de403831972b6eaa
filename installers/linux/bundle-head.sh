#!/bin/sh
# Lean Memory @VERSION@ for one person on Linux, without administrator rights. What follows the mark at the end is an archive.
set -eu

usage() {
    cat <<'TEXT'
Installs Lean Memory for you alone, below ~/.local. Run it again to bring it up to date.
  --no-start          do not start it afterwards
  --home FOLDER       where it is to lie (~/.local/share/lean-memory)
  --prefix FOLDER     where the commands, the menu entry and the icons go (~/.local)
  --python PROGRAM    the Python to use (@PYTHONS@)
Uninstall with: lean-memory-uninstall    (--forget-memories removes the memories too)
TEXT
}

start=yes prefix=$HOME/.local home= python=
while [ $# -gt 0 ]; do
    case $1 in
    --no-start) start= ;;
    --home) home=$2 && shift ;;
    --prefix) prefix=$2 && shift ;;
    --python) python=$2 && shift ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
    shift
done
home=${home:-${XDG_DATA_HOME:-$HOME/.local/share}/lean-memory}

fits() { "$1" -I -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] not in sys.argv[1:])' @PYTHONS@ 2>/dev/null; }

if [ -z "$python" ]; then
    # The system's own comes first: GTK's bindings belong to it.
    for one in /usr/bin/python3 @CANDIDATES@ python3; do
        if command -v "$one" >/dev/null && fits "$one"; then python=$(command -v "$one") && break; fi
    done
fi
if [ -z "$python" ]; then
    echo "Lean Memory needs one of these Pythons: @PYTHONS@. Nothing was changed." >&2
    exit 1
fi

# Beside the target and not in the folder for temporary files, from which a system may forbid to start a program.
mkdir -p "$(dirname "$home")"
folder=$(mktemp -d "$(dirname "$home")/.lean-memory-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM HUP
if ! tail -n +@LINES@ "$0" | tar -xzf - -C "$folder"; then
    echo "This file is damaged, or there is no room for what it holds in $(dirname "$home"). Nothing was changed." >&2
    exit 1
fi
"$python" -I "$folder/setup.pyz" install --home "$home" --python "$python" --system-packages --place "$prefix"
if [ -n "$start" ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    nohup "$home/env/bin/lean-memory" --window >/dev/null 2>&1 </dev/null &
    echo "Lean Memory starts: its window with the first steps, and its icon."
elif [ "$prefix/bin/lean-memory" -ef "$home/env/bin/lean-memory" ]; then
    echo "Start it with: $prefix/bin/lean-memory"
else
    echo "Start it with: $home/env/bin/lean-memory"
fi
exit 0

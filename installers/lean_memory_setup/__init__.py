"""Puts Lean Memory onto a computer, brings it up to date and takes it off again, offline, from the payload of an installer.

It is packed as `setup.pyz` into each payload and needs nothing but the standard library:

    python -I setup.pyz install   --home HOME [--python PYTHON] [--data ROOT …] [--everybody]
    python -I setup.pyz check     --home HOME
    python -I setup.pyz uninstall --home HOME [--data ROOT …] [--everybody] [--forget-memories]

Exit codes: 0 done (also: nothing to do), 1 failed and everything is as it was, 2 called wrongly. What it did is one line each on stdout.

A payload is a folder: `setup.pyz`, `payload.json` (see `payload.Payload`), `requirements.txt` (each requirement with the hashes of the wheels
that lie here), `wheels/`, and `uv` or `uv.exe`.

An installation is a folder, HOME:

    envs/VERSION-DIGEST/   a private environment; `installed.json` in it is written last, so one without it is a leftover
                           (the one used before stays until the next update: a program goes on with the packages it began with)
    env                    the one in use: a symbolic link (Windows: a junction) that is replaced in one step
    setup.pyz              this program, for uninstalling

Everything that is started or written into other programs' files names `HOME/env/…`, so that it stays right when the link moves.
"""

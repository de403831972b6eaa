"""What Wine 8 lacks and our packages ask for, compiled with mingw: complex functions of the C runtime (numpy) and a source of randomness."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

COMPILER = "x86_64-w64-mingw32-gcc"
READER = "x86_64-w64-mingw32-objdump"
_COMPLEX = re.compile(r"c(?:real|imag|arg|abs|pow|(?:acos|asin|atan|cos|sin|tan|exp|log|sqrt)h?)[fl]?")
_SIMPLE = {"creal": "z.re", "cimag": "z.im"}
_HEAD = """#include <complex.h>
typedef struct { float re, im; } F;
typedef struct { double re, im; } D;
static float complex in_f(F z) { union { F s; float complex c; } u; u.s = z; return u.c; }
static F out_f(float complex c) { union { F s; float complex c; } u; u.c = c; return u.s; }
static double complex in_d(D z) { union { D s; double complex c; } u; u.s = z; return u.c; }
static D out_d(double complex c) { union { D s; double complex c; } u; u.c = c; return u.s; }
int __stdcall entry(void *a, unsigned b, void *c) { return 1; }
"""
_RANDOM = """#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }
"""


def put_stubs(system: Path, builtin: Path, scratch: Path) -> None:
    """Put both into the folder `system` of a Wine prefix. `builtin` is Wine's own `ucrtbase.dll`, which keeps doing all the rest."""
    named = _exports(builtin)
    ours = [name for name in named if _COMPLEX.fullmatch(name)]
    source, listed = scratch / "runtime.c", scratch / "runtime.def"
    source.write_text(_HEAD + "\n".join(_function(name) for name in ours) + "\n")
    rest = [f'"{name}" = "wucrt.{name}"' for name in named if name not in ours]
    listed.write_text("\n".join(["LIBRARY ucrtbase", "EXPORTS", *(f"{name} = my_{name}" for name in ours), *rest]) + "\n")
    _compile("-nostartfiles", "-Wl,-e,entry", source, listed, "-o", scratch / "ucrtbase.dll")
    (scratch / "random.c").write_text(_RANDOM)
    _compile(scratch / "random.c", "-o", scratch / "bcryptprimitives.dll", "-ladvapi32")
    for name, file in (("wucrt.dll", builtin), ("ucrtbase.dll", None), ("bcryptprimitives.dll", None)):
        (system / name).unlink(missing_ok=True)
        shutil.copyfile(file or scratch / name, system / name)


def _exports(library: Path) -> list[str]:
    said = subprocess.run([READER, "-p", str(library)], capture_output=True, text=True, check=True).stdout
    table = said.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    return [line.split()[-1] for line in table.splitlines() if line.strip().startswith("[")]


def _function(name: str) -> str:
    single = name.endswith("f")
    base = name[:-1] if single or (name.endswith("l") and name not in {"creal"}) else name
    kind, number, letter = ("F", "float", "f") if single else ("D", "double", "d")
    called = f"{base}f" if single else base
    if base in _SIMPLE:
        return f"{number} my_{name}({kind} z) {{ return {_SIMPLE[base]}; }}"
    if base in {"cabs", "carg"}:
        return f"{number} my_{name}({kind} z) {{ return {called}(in_{letter}(z)); }}"
    if base == "cpow":
        return (
            f"{kind} my_{name}({kind} a, {kind} b) {{ return out_{letter}(cpow{'f' if single else ''}(in_{letter}(a), in_{letter}(b))); }}"
        )
    return f"{kind} my_{name}({kind} z) {{ return out_{letter}({called}(in_{letter}(z))); }}"


def _compile(*words: str | Path) -> None:
    subprocess.run([COMPILER, "-O1", "-shared", "-static", *map(str, words)], check=True)

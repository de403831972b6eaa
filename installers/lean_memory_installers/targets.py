"""The systems that installers are made for, and what each says of itself to the markers and tags of Python packages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One system.

    `pythons` are the versions of CPython that a payload brings wheels for, `tags` the platform tags that it takes, `uv` the file name of
    that program there. `system`, `platform`, `machine` and `os_name` are `platform.system()`, `sys.platform`, `platform.machine()` and
    `os.name` there.
    """

    name: str
    pythons: tuple[str, ...]
    tags: tuple[str, ...]
    uv: str
    system: str
    platform: str
    machine: str
    os_name: str

    def markers(self, python: str) -> dict[str, str]:
        """The environment in which a requirement's marker is to be read."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{python}.0",
            "os_name": self.os_name,
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": self.system,
            "platform_version": "",
            "python_full_version": f"{python}.0",
            "python_version": python,
            "sys_platform": self.platform,
            "extra": "",
        }


LINUX = Target(
    name="linux-x86_64",
    pythons=("3.11", "3.12", "3.13"),
    # glibc 2.34 is older than that of every distribution with one of these Pythons.
    tags=(
        *(f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)),
        "manylinux2014_x86_64",
        "manylinux2010_x86_64",
        "manylinux1_x86_64",
    ),
    uv="uv",
    system="Linux",
    platform="linux",
    machine="x86_64",
    os_name="posix",
)
WINDOWS = Target(
    name="windows-x86_64",
    pythons=("3.13",),
    tags=("win_amd64",),
    uv="uv.exe",
    system="Windows",
    platform="win32",
    machine="AMD64",
    os_name="nt",
)
MACOS = Target(
    name="macos-arm64",
    pythons=("3.13",),
    tags=tuple(f"macosx_{major}_0_{kind}" for major in range(14, 10, -1) for kind in ("arm64", "universal2"))
    + tuple(f"macosx_10_{minor}_universal2" for minor in range(16, 8, -1)),
    uv="uv",
    system="Darwin",
    platform="darwin",
    machine="arm64",
    os_name="posix",
)

"""No open file is carried over a fork: what locks a process holds on a file, its child does not.

SQLite keeps its own account of the locks of a process, and a child inherits the account with none of the locks. It would write beside
its parent and lose what it wrote when the parent closes, also to a file that it opens itself, as long as it has inherited a connection
to it. So whatever holds files lets go of them before its process forks; parent and child open them again when they need them.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from functools import cache
from weakref import WeakSet

if sys.platform != "win32":
    import os


class HoldsFiles(ABC):
    """Something that lets go of its files before the process forks, once it is watched."""

    @abstractmethod
    def before_fork(self) -> None:
        """Close the files, and let no other thread open them; does not raise."""

    @abstractmethod
    def after_fork(self, *, in_child: bool) -> None:
        """Let the files be opened again, in the parent and in the child."""


def watch(holder: HoldsFiles) -> None:
    """Have a holder told of forks for as long as it lives."""
    _watched().add(holder)


@cache
def _watched() -> WeakSet[HoldsFiles]:
    """Those that are told. There is one such set in a process, as what is registered with Python for a fork stays registered."""
    watched: WeakSet[HoldsFiles] = WeakSet()

    def before() -> None:
        for holder in list(watched):
            holder.before_fork()

    def after(*, in_child: bool) -> None:
        for holder in list(watched):
            holder.after_fork(in_child=in_child)

    if sys.platform != "win32":
        os.register_at_fork(before=before, after_in_parent=lambda: after(in_child=False), after_in_child=lambda: after(in_child=True))
    return watched

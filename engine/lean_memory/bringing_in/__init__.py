"""Bringing in what a person has elsewhere: other memories, exports of chats, notes.

`Memory.preview_bring_in(path)` and `Memory.bring_in(path)` are the verbs (`BringingIn`); `detect(path)` says of what kind something is.
"""

from __future__ import annotations

from lean_memory.bringing_in.detecting import detect as detect
from lean_memory.bringing_in.values import Kind as Kind, LeftOut as LeftOut, Report as Report, State as State, came_before as came_before
from lean_memory.bringing_in.verbs import DEFAULT as DEFAULT, BringingIn as BringingIn

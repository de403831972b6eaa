"""Ctrl-C during long work keeps what is done and says how much that is."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import threading

from support.command import PATIENCE, Command


def test_ctrl_c_keeps_the_lines_that_are_done_and_counts_them(command: Command) -> None:
    here, there = pty.openpty()
    process = subprocess.Popen(
        command.arguments("add", "--lines"), env=command.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=there
    )
    os.close(there)
    assert process.stdin is not None
    process.stdin.write(b"".join(b"I visited the town number %d.\n" % number for number in range(20_000)))
    process.stdin.close()
    seen = bytearray()
    stopper = threading.Thread(target=_stop_when_it_moves, args=(here, process, seen))
    stopper.start()
    assert process.stdout is not None
    process.stdout.read()
    process.stdout.close()
    assert process.wait(PATIENCE) == 130
    stopper.join(PATIENCE)
    os.close(here)
    counted = re.search(r"Stopped after (\d+) of 20000 lines", seen.decode())
    assert counted is not None, seen
    (status,) = command.json("status")["namespaces"]
    assert status["episodes"] == int(counted.group(1)) > 0
    assert status["unfinished"] == 0


def _stop_when_it_moves(terminal: int, process: subprocess.Popen[bytes], seen: bytearray) -> None:
    """Press Ctrl-C once the bar shows the first per cent, and read on to the end."""
    pressed = False
    try:
        while chunk := os.read(terminal, 65536):
            seen += chunk
            if not pressed and re.search(rb"\b[1-9]\d?%", seen):
                pressed = True
                process.send_signal(signal.SIGINT)
    except OSError:
        return  # Linux reports the end of a terminal as an error


def test_text_must_come_from_somewhere(command: Command) -> None:
    here, there = pty.openpty()
    process = subprocess.run(
        command.arguments("add"), env=command.environment(), stdin=there, capture_output=True, timeout=PATIENCE, check=False
    )
    os.close(there)
    os.close(here)
    assert process.returncode == 2
    assert b"nothing to remember" in process.stderr

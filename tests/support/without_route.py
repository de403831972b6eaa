"""`python -m support.without_route FOLDER`, in a network namespace of its own: the whole product where nothing but loopback exists.

Prints what came of it as JSON: what the network said to somebody who wants out, and what each surface answered.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from lean_memory_bridge.client import ServiceClient
from support.shim import environment, running_shim

_SIOCSIFFLAGS = 0x8914
_UP = 0x1


def main(folder: Path) -> None:
    """Go through every surface once."""
    _bring_up_loopback()
    root = folder / "memory"
    watched = str(Path(__file__).parent / "watched")
    environ = {"LM_TEST_ADDRESSES": str(folder / "addresses"), "HOME": str(folder)}
    environ["PYTHONPATH"] = os.pathsep.join([watched, environment(root)["PYTHONPATH"]])
    told: dict[str, object] = {"way_out": _way_out()}
    with running_shim(root, **environ) as shim:
        told["server"] = shim.greet()["serverInfo"]["name"]
        shim.done("memory_add", text="I work at Acme Corp.")
        shim.done("memory_add", text="My access key is AKIAQ3EGRCYVLPZ7XN2T, keep it.")
        told["shim"] = shim.done("memory_search", query="where does the user work?")["hits"][0]["fact"]["object"]
        client = ServiceClient.find(root)
        assert client is not None
        told["http"] = client.search("where does the user work?").hits[0].fact.object
        for words in (["search", "employer", "--json"], ["demo", "--json"], ["doctor"]):
            done = subprocess.run(
                [sys.executable, "-P", "-m", "lean_memory_desktop", *words],
                env=environment(root, **environ),
                capture_output=True,
                check=False,
            )
            told[words[0]] = done.returncode
        client.stop()
    print(json.dumps(told))


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP))


def _way_out() -> str:
    with socket.socket() as outward:
        outward.settimeout(5)
        try:
            outward.connect(("192.0.2.1", 80))
        except OSError as error:
            return type(error).__name__ if error.errno is None else os.strerror(error.errno)
    return "open"


if __name__ == "__main__":
    main(Path(sys.argv[1]))

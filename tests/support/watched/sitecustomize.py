"""Put first on the path of a process, it notes every address that the process wants to reach, in the file named by LM_TEST_ADDRESSES."""

import os
import sys

_WATCHED = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname")


def _note(event: str, args: tuple[object, ...]) -> None:
    if event not in _WATCHED:
        return
    address = args[0] if event.startswith("socket.get") else args[1]
    host = address[0] if isinstance(address, tuple) else address
    line = f"{event} {host}\n".encode("utf-8", "replace")
    handle = os.open(os.environ["LM_TEST_ADDRESSES"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.write(handle, line)
    os.close(handle)


if "LM_TEST_ADDRESSES" in os.environ:
    sys.addaudithook(_note)

"""Configurations as they lie on people's disks, for a client of any dialect."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lean_memory_bridge.clients.catalogue import Client, Dialect

_OTHER = {"command": "npx", "args": ["-y", "some-server"], "env": {"KEY": "välue \U0001f511"}}


def awkward_files(client: Client) -> Mapping[str, bytes]:
    """Files that must survive, by what is awkward about them."""
    return _toml_files(client) if client.dialect is Dialect.TOML else _json_files(client)


def broken_files(client: Client) -> Mapping[str, bytes]:
    """Files that nobody can read, and that must be refused."""
    key = client.path[0]
    if client.dialect is Dialect.TOML:
        return {
            "half a table": b"[mcp_servers\ncommand = 1\n",
            "a value without a key": b"= 3\n",
            "the same key twice": b"a = 1\na = 2\n",
            "not UTF-8": b'model = "caf\xe9"\n',
            "not a table": b"mcp_servers = 3\n",
            "an inline table that cannot grow": b'mcp_servers = { other = { command = "npx" } }\n',
        }
    return {
        "half an object": b'{"a": 1,',
        "two commas": b'{"a": 1,,}',
        "two values": b"{} {}",
        "a string without an end": b'{"a": "b}',
        "an open comment": b"{} /* never closed",
        "single quotes": b"{'a': 1}",
        "a list": b"[1, 2]",
        "not UTF-8": '{"a": "café"}'.encode("latin-1"),
        "UTF-16": '{"a": 1}'.encode("utf-16"),
        "a table that is a list": f'{{"{key}": []}}'.encode(),
        "a table that is null": f'{{"{key}": null}}'.encode(),
        "deeper than anything": b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    }


def _json_files(client: Client) -> dict[str, bytes]:
    key = client.path[0]
    pretty = json.dumps({"zoom": 1.5, key: {"other": _OTHER}, "last": [1, 2]}, indent=2, ensure_ascii=False)
    deep = json.dumps({"only": True}, indent=4)
    texts = {
        "empty": "",
        "white space only": " \n\n",
        "an empty object": "{}",
        "an empty object over two lines": "{\n}\n",
        "an empty object with a blank": "{ }",
        "an empty table": f'{{\n  "{key}": {{}}\n}}\n',
        "an empty table over two lines": f'{{\n  "{key}": {{\n  }}\n}}\n',
        "an empty table with a comment": f'{{\n  "{key}": {{\n    // none yet\n  }}\n}}\n',
        "other servers": pretty,
        "other servers and a last line end": pretty + "\n",
        "Windows line ends": pretty.replace("\n", "\r\n"),
        "tabs": json.dumps({"a": {"b": 1}, key: {"other": _OTHER}}, indent="\t"),
        "four blanks": deep,
        "minified": json.dumps({"a": 1, key: {"other": _OTHER}}, separators=(",", ":")),
        "one line with blanks": f'{{ "a": 1, "{key}": {{ "other": {{ "command": "x" }} }} }}',
        "minified and empty": f'{{"a":1,"{key}":{{}}}}',
        "no table": '{\n  "theme": "dark",\n  "fonts": ["a", "b"]\n}\n',
        "the table twice": f'{{\n  "{key}": {{"a": {{"command": "x"}}}},\n  "{key}": {{"b": {{"command": "y"}}}}\n}}',
        "odd blanks everywhere": f'\n\n {{\n\n\n   "a"  :1 ,\n "{key}" : {{  "other"\n:{{}}  }}   }} \n\n',
        "comments": (
            f'// mine\n{{\n  // first\n  "a": 1, // one\n  /* block\n     of two */\n  "{key}": {{\n    "other": {{"command": "x"}} // keep\n'
            "    // the end\n  } /* after */\n  // last\n}\n// over\n"
        ),
        "comments and Windows line ends": f'{{\r\n  // first\r\n  "{key}": {{\r\n    "other": {{}} // keep\r\n  }}\r\n}}\r\n',
        "trailing commas": f'{{\n  "a": [1, 2,],\n  "{key}": {{\n    "other": {{"command": "x",}},\n  }},\n}}\n',
        "trailing commas on one line": f'{{"{key}": {{"other": {{}},}},}}',
        "braces and slashes in strings": f'{{\n  "a": "}} // no \\" comment",\n  "{key}": {{\n    "o/*": {{"command": "{{"}}\n  }}\n}}',
        "a key written with escapes": '{"\\u0061": 1, "b": "\\ud83d\\ude00"}',
        "only a comment": "// nothing here yet",
        "large": json.dumps({"history": [{"n": n, "text": "x" * 40} for n in range(5_000)], key: {"other": _OTHER}}, indent=2),
    }
    return {**{name: text.encode() for name, text in texts.items()}, "a byte order mark": b"\xef\xbb\xbf" + pretty.encode()}


def _toml_files(client: Client) -> dict[str, bytes]:
    del client
    plain = '# mine\nmodel = "o3"  # fast\n\n[mcp_servers.other]\ncommand = "npx"\nargs = ["-y"]\n\n[mcp_servers.other.env]\nKEY = "v"\n'
    texts = {
        "empty": "",
        "other servers": plain,
        "no last line end": plain.rstrip("\n"),
        "Windows line ends": plain.replace("\n", "\r\n"),
        "tabs": '[tui]\n\ttheme = "dark"\n\t# odd\n',
        "no table": 'model = "o3"\n',
        "blank lines at the end": plain + "\n\n\n",
        "comments at the end": plain + "# the end",
        "a header within a string": 'notes = """\n[mcp_servers.lean-memory]\ncommand = "no"\n"""\n',
        "arrays of tables": plain + '\n[[profiles]]\nname = "a"\n\n[[profiles]]\nname = "b"\n',
        "a table of servers": '[mcp_servers]\nother = { command = "x" }\n\n[zzz]\na = 1\n',
        "large": "".join(f'[projects."/p/{number}"]\ntrust_level = "trusted"\n' for number in range(5000)),
    }
    return {**{name: text.encode() for name, text in texts.items()}, "a byte order mark": b"\xef\xbb\xbf" + plain.encode()}

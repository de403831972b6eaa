"""What the commands of maintenance print, against the schema that is committed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import jsonschema

import lean_memory_bridge.schemas

FILE = Path(lean_memory_bridge.schemas.__file__).with_name("maintenance.schema.json")


def must_be_as_printed(command: str, printed: object) -> None:
    """Fails where `printed` is not what the schema says of this command, or holds a key that the schema does not know."""
    schema = cast("dict[str, Any]", json.loads(FILE.read_bytes()))
    for definition in schema["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    jsonschema.validate(printed, {"$ref": schema["commands"][command], "$defs": schema["$defs"]}, jsonschema.Draft202012Validator)

"""Writes the JSON schema of what the commands of maintenance print with `--json`, from the models that the service answers with.

Run it after a change of `schemas/maintenance.py`: PYTHONPATH=engine:mcp_bridge python tools/make_output_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from lean_memory_bridge.schemas import maintenance

PRINTED: dict[str, type[BaseModel]] = {
    "maintain": maintenance.Tidied,
    "maintain status": maintenance.MaintenanceState,
    "maintain stop": maintenance.Cancelled,
    "maintain at": maintenance.ScheduleView,
    "review": maintenance.Review,
    "review --decided": maintenance.ReviewPast,
    "decide": maintenance.Decided,
    "decide --entity": maintenance.DecidedMany,
    "revert": maintenance.Reverted,
    "promote": maintenance.Promoted,
}
"""What each command prints; `lean-memory-maintain` prints the same as `lean-memory maintain`, and pause, resume and agents as `at`."""
FILE = Path(maintenance.__file__).with_name("maintenance.schema.json")


def schema() -> dict[str, object]:
    """The schema: `commands` says by which definition the output of a command goes. Keys may be added, so unknown ones are allowed."""
    by_model, whole = models_json_schema([(model, "serialization") for model in PRINTED.values()])
    commands = {command: by_model[model, "serialization"] for command, model in PRINTED.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the commands of maintenance print with --json",
        "anyOf": [{"$ref": reference["$ref"]} for reference in commands.values()],
        "commands": {command: reference["$ref"] for command, reference in commands.items()},
        "$defs": {name: _with_all_keys(definition) for name, definition in whole["$defs"].items()},
    }


def _with_all_keys(definition: dict[str, object]) -> dict[str, object]:
    """What is printed holds every key, also where its value is the default."""
    properties = definition.get("properties")
    return {**definition, "required": list(properties)} if isinstance(properties, dict) else definition


if __name__ == "__main__":
    FILE.write_text(json.dumps(schema(), indent=2, ensure_ascii=True) + "\n", encoding="ascii")

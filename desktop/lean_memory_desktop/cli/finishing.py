"""`lean-memory finish`: let the models that are set add to what waits for them."""

from __future__ import annotations

from lean_memory_desktop.cli.console import complain, counted, say, write_json
from lean_memory_desktop.cli.opening import open_files
from lean_memory_desktop.cli.options import Exit, Options


def finish(options: Options) -> int:
    """Finish the waiting texts of a namespace, at most `--limit`; 1 when a model could not be used."""
    with open_files(options) as memory:
        done = memory.finish_queued(options.namespace, limit=options.limit)
    if options.json:
        counts = {"finished": done.episodes, "waiting": done.waiting, "missing": done.missing}
        write_json({"namespace": options.namespace, **counts, "fact_ids": list(done.fact_ids), "superseded": list(done.superseded)})
    else:
        say(f"{counted(done.episodes, 'text')} finished, {counted(len(done.fact_ids), 'fact')} added; {done.waiting} wait.")
    if done.missing and not options.json:
        complain(done.missing)
    return Exit.FAILED if done.missing else Exit.FINE

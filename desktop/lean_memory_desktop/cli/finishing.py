"""`lean-memory finish`: let the models that are set add to what waits for them, and make the vectors that are missing."""

from __future__ import annotations

from lean_memory_desktop.cli.console import complain, counted, say, write_json
from lean_memory_desktop.cli.opening import known_files
from lean_memory_desktop.cli.options import Exit, Options


def finish(options: Options) -> int:
    """Finish the waiting texts of a namespace, at most `--limit`, and make as many vectors; 1 when a model could not be used."""
    with known_files(options) as memory:
        done = memory.finish_queued(options.namespace, limit=options.limit)
        vectors = memory.catch_up_vectors(options.namespace, limit=options.limit)
    missing = done.missing or vectors.reason
    if options.json:
        counts = {"finished": done.episodes, "waiting": done.waiting, "missing": missing}
        made = {"vectors_made": vectors.made, "vectors_missing": vectors.missing}
        write_json({"namespace": options.namespace, **counts, "fact_ids": list(done.fact_ids), "superseded": list(done.superseded), **made})
    else:
        say(f"{counted(done.episodes, 'text')} finished, {counted(len(done.fact_ids), 'fact')} added; {done.waiting} wait.")
        if vectors.made or vectors.missing:
            say(f"{counted(vectors.made, 'vector')} made; {vectors.missing} are missing.")
    if missing and not options.json:
        complain(missing)
    return Exit.FAILED if missing else Exit.FINE

"""The assistants that we can be connected to: where each keeps its configuration, and how our entry gets into it and out again.

Nothing here imports the engine, the service or a parser of anybody else's: a configuration is edited as text, so that whatever we did not
write stays byte for byte.
"""

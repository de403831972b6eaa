"""The benchmarks the README's figures come from: deterministic, no model as a judge, data given as an argument.

`PYTHONPATH=engine:tests python -m bench --data DIR` measures every row of the table; nothing here runs in the test suite except
the tests of the measures themselves.
"""

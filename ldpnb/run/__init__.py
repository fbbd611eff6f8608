"""Finding, running and checking the notebooks.

`catalogue` knows which notebooks there are, `execute` runs them (`kernels` and `parallel` make that fast), `check`
compares a fresh run with the committed one, and `ledger` gathers all verdicts.
"""

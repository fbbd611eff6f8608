"""Finding, running and checking the notebooks.

`catalogue` knows which notebooks there are, `execution` runs them (`kernels` and `parallel` make that fast),
`nbval_plugin` compares a fresh run with the committed one, and `ledger` gathers all verdicts.
"""

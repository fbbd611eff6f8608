"""Finding, running and checking the notebooks.

`catalogue` knows which notebooks there are. `runner` executes them with papermill and puts their results into place,
leaving alone what is the same (`sameness`); `kernels` makes that fast. `checking` compares a fresh run with the stored
one under nbval. `ledger` gathers all verdicts, `errata` writes what does not hold, `export` a result for a paper.
"""

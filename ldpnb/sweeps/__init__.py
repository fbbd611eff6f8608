"""Sweeps: an experiment over a grid of settings, in blocks, on all cores or a Dask cluster, resumed whenever it stops.

`experiments` are the companion's own, `sweep` runs one over a grid, and `command` is its command line.
"""

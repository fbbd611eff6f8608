"""Sweeps: an experiment over a grid of settings, in blocks, on all cores or a Dask cluster, resumed whenever it stops.

`experiments` are the companion's own, `registry` says what can be swept and over which values, `sweep` runs it, and
`command` is its command line.
"""

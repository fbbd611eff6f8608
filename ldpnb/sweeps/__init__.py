"""Sweeps: an experiment over a grid of settings, in blocks of repetitions, on all cores or a Dask cluster, to be resumed whenever it stops.

`registry` says what can be swept, `grid` turns a command into tasks, `runner` executes them, `folder` keeps and collects their results, and
`plot` draws them.
"""

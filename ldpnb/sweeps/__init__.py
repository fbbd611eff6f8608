"""Sweeps: an experiment over a grid of settings, in blocks of repetitions, on all cores or a Dask cluster, to be resumed whenever it stops.

`registry` says what can be swept, `grid` turns a description into tasks, `work` is what a worker does with one, `runner` hands them out, `folder`
keeps results, `table` adds them up, `session` is the command, and `plot` draws.
"""

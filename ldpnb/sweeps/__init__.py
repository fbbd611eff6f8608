"""Sweeps: an experiment over a grid of settings, in blocks, on all cores or a Dask cluster, resumed whenever it stops.

`registry` lists what can be swept, `grid` turns a description into tasks and runs one in a worker, `folder` stores and
combines results, `session` is the command, and `plot` draws.

How long should a task be?
--------------------------
``tests/bench/sweep_tasks.py`` measures it. On two cores, handing out a task, fetching its result and writing its file
costs 1 to 2.5 ms with loky and 1.5 to 4 ms with Dask (short tasks travel in batches), so that tasks of 10 ms keep the
workers busy for nine tenths of their time. The process that runs the sweep handles about 800 tasks a second (loky) or
500 (Dask); with W workers a task should therefore last at least W / 400 seconds: 0.25 s on 100 workers. ``--block``
sets the length: repetitions in one task.

A million grid points on 100 workers, one task each: handing out and writing takes 10^6 / 500 s = 33 min, hidden behind
the work if a task lasts longer than 0.2 s. Tasks of 0.5 s take 10^6 * 0.5 / 100 s = 1 h 25 min, tasks of 2 s take 5 h
35 min. The folder holds 10^6 files of 4.5 KB, 4.5 GB; collecting the table reads each once, 5 to 20 minutes from a
local disk. A sweep that is stopped loses only the tasks being run, at most 100 of them (and those batched with them),
and continues with the same command.
"""

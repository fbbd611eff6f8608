"""An experiment over a grid of settings, in blocks, on all cores or a Dask cluster, resumed whenever it stops."""

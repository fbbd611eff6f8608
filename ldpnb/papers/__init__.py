"""One folder a source: claims and their checks, tables, charts, simulated data, printed numbers."""

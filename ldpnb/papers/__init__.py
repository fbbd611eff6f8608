"""One folder a source: claims and their second routes, tables, charts, simulated data and printed numbers."""

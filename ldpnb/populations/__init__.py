"""True data: who holds what before anyone asks.

Use `synthetic` for the sources' distributions and Dirichlet draws, `public` for public tallies and files, `establishments` for business
microdata and `sessions` for wearable-sensor sessions.
"""

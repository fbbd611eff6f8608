"""True data: who holds what before anyone asks.

Use `synthetic` for the sources' distributions and Dirichlet draws, `public` for public tallies and trip files, `files` for a column of your own,
`download` for public files by name, `establishments` for business microdata that agree with a tabulation (`tabulations`), `sessions` for
wearable-sensor sessions and `clients` for groups of clients with a rate each.
"""

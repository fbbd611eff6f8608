"""True data: who holds what before anyone asks, as a `column.Column`.

Use `files` for a column of your own table (`tables` reads it piece by piece, `channels` reads a channel), `public` for
public tallies and trip files, `download` for public files by name, `synthetic` for the sources' distributions and
Dirichlet draws, and `reports` for tallies of reports in files larger than memory.
"""

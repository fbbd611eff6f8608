"""True data: who holds what before anyone asks, as a `column.Column`.

A table of one's own is read in this order: `reading` (what is stated of it, and how it is asked), `formats` (what kind
of file it is), `table` (its header, its columns), `entries` (what the entries of one mean) and `files` (its tally).
`inspection` shows all of it. `public` has UCI Adult, and `synthetic` the sources' distributions.
"""

"""True data: who holds what before anyone asks, as a `column.Column`.

A table of one's own goes through four modules: `reading` (what is stated of it), `tables` (what is in the file; its
`layout` finds header and data), `entries` (what a column's entries mean) and `files` (its tally). `inspection` shows
all of it. `public` has the tallies of the sources, `download` fetches one whole table, `synthetic` has the sources'
distributions, and `channels` reads a channel.
"""

"""True data: how many users hold each value before anyone is asked, as a `column.Column`.

`public` has two columns of UCI Adult, and `synthetic` the distributions that the sources simulate.
A column of a file of one's own is read in this order: `reading` (what is stated of the file),
`tables` (its rows), `entries` (what the entries of a column say) and `files` (their tally).
`inspection` describes a file. Nothing is guessed: what does not fit the statements is refused.
"""

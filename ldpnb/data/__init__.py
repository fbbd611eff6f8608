"""True data: how many users hold each value before anyone is asked, as a `column.Column`.

`public` has two columns of UCI Adult, and `synthetic` the distributions that the sources simulate.

A column of your own file is read by `files.load_column`. `reading` is what is stated of the
file, `tables` reads it as a `table.Table` (by `text`, `workbook` and `rows`, or by `parquet`), and
`entries` says what the entries of a column mean. `inspection` describes a file. Nothing is guessed:
what does not fit the statements is refused.
"""

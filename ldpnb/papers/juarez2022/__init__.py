"""Juarez and Korolova: Privately measuring performance disparities in federated learning.

The claims of a section are in its TOML file, and their checks are in the module of the same name.
`written_out` holds printed formulas and laws, term by term, that several sections share. `tables`
computes what the notebooks show, and `charts` draws it. The numbers that the source prints are in
``printed.csv``. `clients` and `sessions` make the populations of Section 5 and Appendix D.
"""

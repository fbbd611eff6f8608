"""Juarez and Korolova: Privately measuring demographic performance disparities in federated learning.

A section's claims stand in its TOML file, what decides them beside it; `written_out` holds printed formulas and laws,
term by term, that several sections share; `tables` computes what the notebooks show and `charts` draws it; the numbers that the source
prints are in ``printed.csv``. `clients` and `sessions` make the populations of Section 5 and Appendix D.
"""

"""Juarez and Korolova: Privately measuring demographic performance disparities in federated learning.

`claims` decides what the source says, section by section, and `proofs` the steps of that for every parameter; `routes`
holds the second, independent ways to the deciding values; `tables` computes what the notebooks show and `charts` draws
it; the numbers that the source prints are in ``printed.csv``. `clients` and `sessions` make the populations of Section
5 and Appendix D.
"""

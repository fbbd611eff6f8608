"""Biswas, Cormode and Maple: Impact of sampling on locally differentially private data collection.

``section_2`` to ``section_6`` decide what the source says, each beside the words of its claims.
`proofs` holds one user on symbols, and `written_out` what a few users can do, one by one. `tables`
computes what the notebooks show, and `charts` draws it. The numbers that the source prints are in
``printed.csv``.
"""

"""Biswas, Cormode and Maple: Impact of sampling on locally differentially private data collection.

``section_2`` to ``section_6`` decide what the source says, each beside the words of its claims; `proofs` holds one user
on symbols, `routes` the enumeration of a few users and the second routes that sections share; `tables` computes what
the notebooks show and `charts` draws it; the numbers that the source prints are in ``printed.csv``.
"""

SECTIONS = ("section_2", "section_3", "section_4", "section_5", "section_6")

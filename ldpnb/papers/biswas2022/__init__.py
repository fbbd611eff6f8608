"""Biswas, Cormode and Maple: Impact of sampling on locally differentially private data collection.

`claims` decides what the source says, section by section; `proofs` holds what decides it for every parameter, `routes`
the second, independent ways to the deciding values; `tables` computes what the notebooks show and `charts` draws it;
the numbers that the source prints are in ``printed.csv``. `displayed` holds variances as the source displays them,
where they differ from the exact ones in `ldpnb.accuracy.sampling`.
"""

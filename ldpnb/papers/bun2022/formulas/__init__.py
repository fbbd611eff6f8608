"""The formulas that this source alone uses.

Use `random_size`, `data_dependent` and `rounding` for the privacy loss of a sample whose size is random or depends on
the data, `clusters` for cluster samples, `unequal` for unequal probabilities and systematic samples, and `releases` for
several releases from one sample. `samples` draws such samples and `sizes` holds the laws of a random size. `allocation`
compares allocations of a stratified sample at equal privacy.
"""

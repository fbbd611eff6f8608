"""The formulas that this source alone uses.

- `random_size`, `data_dependent` and `rounding`: the privacy loss of a sample whose size is random
  or depends on the data;
- `clusters` for cluster samples, `unequal` for unequal probabilities and systematic samples;
- `releases` for several releases from one sample;
- `samples` draws such samples, and `sizes` holds the distributions of a random size;
- `allocation` compares allocations of a stratified sample at equal privacy.
"""

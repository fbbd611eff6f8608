"""The claims of bun2022, by topic in the source's order.

`fixed_size` decides Section 2 and the lemmas, `random_size` Section 3, `data_dependent` Section 4, `clusters` Section 5, `unequal` Section 6 and
`strata` Section 7. `enumeration` holds the independent route they share: complete sample laws of small populations and the linear program over
all mechanisms. The text of the source lost its formulas; a verdict says where the printed form had to be rebuilt from its proof.
"""

from importlib import import_module

for _topic in ("fixed_size", "random_size", "data_dependent", "clusters", "unequal", "strata"):
    import_module(f"{__name__}.{_topic}")

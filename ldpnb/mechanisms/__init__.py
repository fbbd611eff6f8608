"""Local randomizers as value objects: parameters in, probabilities, exact channel and exact privacy loss out.

Use `frequency` for categorical answers (k-ary randomised response, unary encoding), `subsets` for subset selection, `signs` for the lecture's
sign vectors, `means` for bounded numbers, `groups` for a number together with a sensitive group and `contrasts` for the gap between two groups
alone; `moves` is what the last two share. Every mechanism simulates tallies from their exact joint law (``sample_tallies``), at a cost that does
not depend on the number of users, and single users (``randomize``).
"""

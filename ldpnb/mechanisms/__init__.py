"""Local randomizers as value objects: parameters in, probabilities, exact channel and exact privacy loss out.

Use `frequency` for categorical answers (k-ary randomised response, unary encoding), `subsets` for subset selection,
`hashing` for local hashing, `signs` for the lecture's sign vectors, `means` for bounded numbers, `groups` for a number
together with a sensitive group, `contrasts` for the gap between two groups alone and `best_gap` for its best channel;
`moves` is what `groups` and `contrasts` share. Every mechanism simulates tallies from their exact joint law
(``sample_tallies``), at a cost that does not depend on the number of users, and single users (``randomize``).

They simulate and analyse; they do not protect. Draws come from a statistical generator (PCG64), which whoever sees
enough of its output can continue, and noise is in floating point, whose gaps give the noiseless value away. Nothing
here may stand between real people's data and an adversary: use OpenDP or Google's differential-privacy library, with
discrete noise and a cryptographic source of randomness.
"""

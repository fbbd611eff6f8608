"""Local randomizers as value objects: parameters in, probabilities, exact channel and exact privacy loss out.

Use `frequency` for categorical answers (k-ary randomised response, unary encoding), `subsets` for
subset selection, `hashing` for local hashing, `signs` for the lecture's sign vectors, `means` for
bounded numbers, `groups` for a number together with a sensitive group, `contrasts` for the gap
between two groups alone and `best_gap` for its best channel; `moves` holds what `groups` and
`contrasts` share. Every mechanism simulates tallies from their exact joint law (``sample_tallies``,
``sample_sums``), at a cost that does not depend on the number of users; some also randomize users
one by one.

They are for simulation and analysis only and protect nobody. Draws come from a statistical
generator (PCG64), whose future output can be predicted from enough of its past, and noise is in
floating point, whose gaps reveal the noiseless value. To protect real people's data use OpenDP or
Google's differential-privacy library, which have discrete noise and a cryptographic source of
randomness.
"""

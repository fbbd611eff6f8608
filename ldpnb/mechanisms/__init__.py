"""Local randomisers as value objects, with exact probabilities, channels and privacy losses.

For categorical answers use `frequency` (k-ary randomised response, unary encoding), `subsets`
(subset selection), `hashing` (local hashing) or `signs` (the lecture's sign vectors). For bounded
numbers use `means`. For a number together with a sensitive group use `groups`; for the gap between
two groups alone `contrasts`, and `best_gap` for its best channel. `moves` holds what `groups` and
`contrasts` share, and `registry` has all mechanisms by name.

Every mechanism simulates the totals of all reports from their exact joint distribution
(``sample_tallies``, ``sample_sums``), mostly in a time that does not depend on the number of users.
Some also randomise users one by one (``randomize``).

They are for simulation only and protect nobody. Draws come from a statistical generator (PCG64),
whose future output can be predicted from enough of its past. Noise is in floating point, whose gaps
reveal the value without noise. To protect real people's data use OpenDP or Google's
differential-privacy library, which have discrete noise and a cryptographic source of randomness.
"""

"""Results of this companion that go beyond the sources, decided as their claims are.

`claims` states them, `proofs` holds the algebra. Prior art is cited where the notebooks show them.
"""

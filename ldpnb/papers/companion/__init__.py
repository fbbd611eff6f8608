"""Results of this companion that go beyond the sources, decided as their claims are.

`samples`, `reports` and `implementations` decide them, each beside the words of its claims. None is called new: a notebook that shows one
cites what a search found, among public pages and papers' abstracts, for rounded and random sample sizes, Poisson
against fixed size, several queries on one sample, linear functionals and gaps under local privacy, local hashing,
blankets and shuffled k-ary randomised response against central noise, exact total variation.
"""

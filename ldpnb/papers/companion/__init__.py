"""Results of this companion that go beyond the sources, decided as the claims of the sources are.

The words of the claims are in TOML files, and the checks are in the modules of the same names:
`samples`, `reports` and `implementations`. No result is called new: each names what a search of
public pages and of abstracts found.
"""

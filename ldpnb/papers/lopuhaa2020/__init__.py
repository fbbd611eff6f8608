"""Lopuhaä-Zwakenberg, Z. Li, Škorić and N. Li, on frequency estimation under local privacy.

The words of a section's claims are in ``section_<n>.toml``, and their checks in the module of the
same name; `written_out` holds definitions and enumerations, term by term. `tables` computes what
the notebooks show, and `findings` titles and draws it; the numbers that the source prints are in
``printed.csv``.
"""

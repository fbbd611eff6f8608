"""Tables of what the notebooks on Lopuhaä-Zwakenberg and others show."""

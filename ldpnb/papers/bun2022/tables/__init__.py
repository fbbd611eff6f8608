"""Tables of what the notebooks on Bun and others show."""

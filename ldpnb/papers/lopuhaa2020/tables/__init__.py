"""What the notebooks of lopuhaa2020 show, as tables."""

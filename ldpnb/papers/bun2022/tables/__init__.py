"""What the notebooks of bun2022 show, as tables."""

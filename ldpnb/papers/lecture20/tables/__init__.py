"""What the notebooks of lecture20 show, as tables."""

"""What the notebooks on the lecture show, as tables."""

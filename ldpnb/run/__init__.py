"""Finding, running and checking the notebooks, and telling what they decide and draw."""

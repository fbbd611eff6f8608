"""What the companion's own notebooks compute and draw: plans."""

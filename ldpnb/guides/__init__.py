"""What the companion's own notebooks compute and draw: own data and plans."""

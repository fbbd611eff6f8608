"""What the companion's own notebooks compute and draw: the tour, own data and the plan."""

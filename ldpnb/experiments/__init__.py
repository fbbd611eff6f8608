"""Monte Carlo: a grid of settings times repetitions, with keyed random streams, into a tidy table with standard errors."""

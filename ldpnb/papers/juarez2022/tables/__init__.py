"""Tables of what the notebooks on Juarez and Korolova show."""

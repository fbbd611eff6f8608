"""Tables of what the notebooks on Biswas, Cormode and Maple show."""

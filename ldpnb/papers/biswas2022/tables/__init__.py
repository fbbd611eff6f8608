"""What the notebooks of biswas2022 show, as tables."""

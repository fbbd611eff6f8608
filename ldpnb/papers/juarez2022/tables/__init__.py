"""What the notebooks of juarez2022 show, as tables."""

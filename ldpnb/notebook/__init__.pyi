from .figures import curves, look, publish, publish_table, rounded
from .live import Choice, Slider, live
from .verdicts import verdicts

__all__ = [
    "Choice",
    "Slider",
    "curves",
    "live",
    "look",
    "publish",
    "publish_table",
    "rounded",
    "verdicts",
]

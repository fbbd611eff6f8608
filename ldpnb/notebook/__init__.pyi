from .figures import curves, look, publish, publish_table
from .live import Choice, Slider, live
from .tables import rounded, table
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
    "table",
    "verdicts",
]

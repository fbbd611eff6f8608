from .annotations import Mark, crossings
from .figures import curves, look, publish, publish_table
from .live import Choice, Slider, live
from .prose import listed, say, short, solution, where_less
from .tables import Rows, rounded, table
from .verdicts import verdicts

__all__ = [
    "Choice",
    "Mark",
    "Rows",
    "Slider",
    "crossings",
    "curves",
    "listed",
    "live",
    "look",
    "publish",
    "publish_table",
    "rounded",
    "say",
    "short",
    "solution",
    "table",
    "verdicts",
    "where_less",
]

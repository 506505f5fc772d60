"""Care for the data: are the grades right, are they stable, and do tasks leak from one set into another?"""

from fugu_lite.audit.contamination import Contamination, Match, compare
from fugu_lite.audit.flips import FlipRate, flip_rates
from fugu_lite.audit.grading import Opinion, draw, opinions, pairs
from fugu_lite.audit.marks import ErrorRate, error_rates, read_marks, write_template

__all__ = [
    "Contamination",
    "ErrorRate",
    "FlipRate",
    "Match",
    "Opinion",
    "compare",
    "draw",
    "error_rates",
    "flip_rates",
    "opinions",
    "pairs",
    "read_marks",
    "write_template",
]

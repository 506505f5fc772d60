"""Import and export of others' data: one file per format. Cells are joined by name; a missing one stays missing."""

from fugu_lite.datasets.contract import Format, Imported, ImportOptions, Report, named, read, registry
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.datasets.preferences import Preference, record, strengths

__all__ = [
    "Format",
    "Gathering",
    "ImportOptions",
    "Imported",
    "Outcome",
    "Preference",
    "Report",
    "named",
    "read",
    "record",
    "registry",
    "strengths",
]

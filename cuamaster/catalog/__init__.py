"""Set-based work in SQL, in this room only: the window over a workspace, and which candidates are the same video."""

from cuamaster.catalog.duplicates import DUPLICATES, Duplicates, Pairs, find_duplicates
from cuamaster.catalog.window import Catalog

__all__ = ["DUPLICATES", "Catalog", "Duplicates", "Pairs", "find_duplicates"]

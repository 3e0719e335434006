"""Checks of a dataset before anybody trains on it: what is found is listed, row by row, never repaired silently.

`preflight` is what every export passes; `problems` is the whole examination before a release; `clean.clean` writes a copy without
what the examination found. All stream: memory is bounded by one row group, whatever the size of the dataset.
"""

from cuamaster.exports.preflight.check import preflight, problems
from cuamaster.exports.preflight.problem import CHECKS, EXPORT_RULES, Problem, Rules

__all__ = ["CHECKS", "EXPORT_RULES", "Problem", "Rules", "preflight", "problems"]

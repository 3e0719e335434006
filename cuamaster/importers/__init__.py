"""Other people's datasets and benchmarks as our records: AgentNet, OSWorld, cua-lite.

An importer is a generator of `Found`, one for each record of the source: what was kept (a Trajectory or a Task, with lineage),
and what could not be mapped, each with a reason and names that can be counted. Nothing is left out in silence.
"""

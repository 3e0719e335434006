"""Record <-> Parquet, and the workspace folders of a round: one atomic part per item, compacted when a stage closes.

    workspace/round=003/<stage>/parts/<item>/{kept,dropped}.parquet    while the stage is open
    workspace/round=003/<stage>/{kept,dropped}-00000.parquet           once it is closed; manifest.json is written last

What counts, always: the files that manifest.json names, and the parts of items that it does not name. So a kill at any
instant neither doubles nor loses a row, and many processes or hosts may write one stage side by side.
"""

from cuamaster.tables.files import alone, atomic_file, publish, restore, sweep_temporary, temporary_name, write_atomic
from cuamaster.tables.manifest import FileEntry, Manifest
from cuamaster.tables.rows import Rows, from_row, iter_table, read_table, record_id, schema_of, table_of, to_row
from cuamaster.tables.shards import sha256_of
from cuamaster.tables.shelf import Shelf
from cuamaster.tables.slices import Slice, cut, records_of, slices, table_from
from cuamaster.tables.stage import StageFolder
from cuamaster.tables.workspace import RoundFolder, Workspace

__all__ = [
    "FileEntry",
    "Manifest",
    "RoundFolder",
    "Rows",
    "Shelf",
    "Slice",
    "StageFolder",
    "Workspace",
    "alone",
    "atomic_file",
    "cut",
    "from_row",
    "iter_table",
    "publish",
    "read_table",
    "record_id",
    "records_of",
    "restore",
    "schema_of",
    "sha256_of",
    "slices",
    "sweep_temporary",
    "table_from",
    "table_of",
    "temporary_name",
    "to_row",
    "write_atomic",
]

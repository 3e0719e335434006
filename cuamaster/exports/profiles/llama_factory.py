"""LLaMA-Factory: ms-swift's columns, and the dataset_info.json by which it finds them.

Its ShareGPT converter (src/llamafactory/data/converter.py) takes a system turn first, then strictly user and assistant in turn,
an even number of them, and only logs and skips anything else.
"""

from __future__ import annotations

from typing import Any

from cuamaster.exports.options import Options
from cuamaster.exports.profiles.ms_swift import COLUMNS, tagged_rows
from cuamaster.exports.profiles.profile import Profile


def _dataset_info(_: Options, splits: list[str]) -> dict[str, Any]:
    described = {
        "formatting": "sharegpt",
        "columns": {"messages": "messages", "images": "images"},
        "tags": {
            "role_tag": "role",
            "content_tag": "content",
            "user_tag": "user",
            "assistant_tag": "assistant",
            "system_tag": "system",
        },
    }
    return {"dataset_info.json": {f"cuamaster_{split}": {"file_name": split, **described} for split in splits}}


PROFILE = Profile(
    name="llama-factory", stream="trajectories", rows=tagged_rows, columns=lambda _: COLUMNS, extras=_dataset_info,
    use="`dataset_dir: DIR`, `dataset: cuamaster_train`; made with a history: `mask_history: true`",
)  # fmt: skip

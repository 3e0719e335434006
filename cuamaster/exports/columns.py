"""Columns of the exported files, once as Arrow types and once as the `huggingface` features by which `datasets` decodes them."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

STRING, INT, FLOAT = pa.string(), pa.int64(), pa.float64()


def list_of(kind: pa.DataType) -> pa.DataType:
    """A list column."""
    return pa.list_(
        pa.field("element", kind)
    )  # the name that Parquet gives it, so that a file's schema equals this one


STRINGS = list_of(STRING)
JSON = pa.json_(STRING)
"""JSON text for every reader; `datasets` gives the parsed value, without the None keys that nested columns would grow."""
IMAGE = pa.struct([("bytes", pa.binary()), ("path", STRING)])
IMAGES = list_of(IMAGE)
TURNS = list_of(pa.struct([("role", STRING), ("content", STRING)]))

Columns = dict[str, pa.DataType]

SFT: Columns = {
    "id": STRING,
    "task_id": STRING,
    "instruction": STRING,
    "messages": JSON,
    "conversation": TURNS,
    "images": IMAGES,
    "tools_json": STRING,
    "steps_json": STRING,
    "dialect": STRING,
    "mode": STRING,
    "source": STRING,
    "policy": STRING,
    "proof": STRING,
    "reason": STRING,
    "round": INT,
    "n_steps": INT,
    "n_actions": INT,
    "n_rollbacks": INT,
    "K": INT,
    "N": INT,
    "apps": STRINGS,
    "domain": STRING,
    "strategy": STRING,
    "episode_id": STRING,
    "env_id": STRING,
    "env_image_digest": STRING,
    "screen_w": INT,
    "screen_h": INT,
    "video_id": STRING,
    "video_url": STRING,
    "t_start": FLOAT,
    "t_end": FLOAT,
    "license": STRING,
    "lineage_json": STRING,
    "action_space_version": STRING,
}
"""sft.parquet and unproven.parquet: one row a trajectory."""

RL: Columns = {
    "task_id": STRING,
    "instruction": STRING,
    "prompt": TURNS,
    "mode": STRING,
    "images": IMAGES,
    "data_source": STRING,
    "ability": STRING,
    "agent_name": STRING,
    "reward_model": pa.struct([("style", STRING), ("ground_truth", STRING)]),
    "extra_info": pa.struct([("index", INT), ("split", STRING), ("task_id", STRING), ("K", INT), ("N", INT)]),
    "env_class": STRING,
    "reward_spec": pa.struct([("method", STRING), ("ground_truth", STRING)]),
    "env_id": STRING,
    "env_image_digest": STRING,
    "os": STRING,
    "snapshot_id": STRING,
    "setup_json": STRING,
    "verifier_json": STRING,
    "verifier_sha256": STRING,
    "task_json": STRING,
    "oracle_json": STRING,
    "certificate_json": STRING,
    "action_space_version": STRING,
    "K": INT,
    "N": INT,
    "apps": STRINGS,
    "domain": STRING,
    "strategy": STRING,
    "capabilities": STRINGS,
    "screen_w": INT,
    "screen_h": INT,
    "max_steps": INT,
    "timeout_s": FLOAT,
    "seed": INT,
    "group_size_hint": INT,
    "base_success_rate": FLOAT,
    "split": STRING,
    "round": INT,
    "lineage_ids": STRINGS,
    "lineage_json": STRING,
    "license": STRING,
}
"""rl.parquet: one row a task; the columns of verl, TRL, SkyRL and OpenRLHF, and what a virtual machine needs beside them."""


def schema(columns: Columns) -> pa.Schema:
    """The Arrow schema with the features in its metadata."""
    features = {name: _feature(kind) for name, kind in columns.items()}
    return pa.schema(list(columns.items()), metadata={"huggingface": json.dumps({"info": {"features": features}})})


def _feature(kind: pa.DataType) -> Any:
    if kind == JSON:
        return {"_type": "Json"}
    if kind == IMAGE:
        return {"_type": "Image"}
    if isinstance(kind, pa.ListType):
        return {"_type": "List", "feature": _feature(kind.value_type)}
    if isinstance(kind, pa.StructType):
        return {field.name: _feature(field.type) for field in kind}
    return {"_type": "Value", "dtype": "float64" if kind == FLOAT else str(kind)}

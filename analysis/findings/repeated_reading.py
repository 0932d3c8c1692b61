"""The loop reads files, and makes arrays or objects of them, again and again."""

from __future__ import annotations

from rlscope.analysis.function_rule import of_calls

RULE = of_calls(
    # What makes arrays, tables or objects of a file: one library is one row.
    (
        r".*/numpy/lib/_?npyio(_impl)?\.py:(load|loadtxt|genfromtxt|fromregex|NpzFile\..*)",
        r".*/torch/serialization\.py:load",
        r".*/json/__init__\.py:loads?",
        r".*/json/decoder\.py:.*",
        r".*/yaml/__init__\.py:(safe_|full_|unsafe_)?load(_all)?",
        r".*/pandas/io/.*:read_.*",
        r".*/polars/io/.*:(read|scan)_.*",
        r".*/pyarrow/parquet/core\.py:read_table",
        r".*/safetensors/(torch|numpy)\.py:load(_file)?",
        r".*/h5py/_hl/dataset\.py:Dataset\.__getitem__",
        r".*/joblib/numpy_pickle\.py:load",
        r".*/PIL/Image\.py:open",
    ),
    title="reading data takes",
    what="functions that read files or text",
    fix="Read the data once, before the loop, and keep objects, arrays or tensors of it.",
    no_effect="No effect where each call reads something else, and memory cannot hold all of it.",
    with_files=True,
    part=(0.7, 1.0, 1.0),
)

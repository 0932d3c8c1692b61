"""How often a program calls its networks and in which precision, how many tokens its models wrote,
and whether it steps one environment at a time: noted in the metadata at the end of the process.

Forwards that write a token each are counted in C++ (csrc/python/runtime_module/token_count.h). What
a library's own generation wrote is told by what it returns.
"""

import atexit
import json
from typing import Any

from rlscope.recorder import runtime

METADATA = "rlscope.tokens"
"""Key of the note, JSON: [tokens, generations]."""
FORWARDS = "rlscope.forwards"
"""Key of the note, JSON: how many outermost forwards there were, but for those inside steps of an
environment and of what a library does apart."""

REWARDS = "rlscope.rewards"
"""Key of the note, JSON: runtime.returned_rewards()."""

PRECISION = "rlscope.precision"
"""Key of the note, JSON: [forwards in double precision, others], of the first 256 that are given a
tensor."""


def watch() -> None:
    """From now on, once in a process."""
    if not _is_watched:
        _is_watched.append(True)
        runtime.count_tokens(of_result)
        atexit.register(note)


def note() -> None:
    """Puts what is known into the metadata."""
    called = runtime.called_networks()
    if called > 0:
        runtime.metadata(FORWARDS, json.dumps(called))
    returned = runtime.returned_rewards()
    if any(returned):
        runtime.metadata(REWARDS, json.dumps(returned))
    given = runtime.given_precisions()
    if any(given):
        runtime.metadata(PRECISION, json.dumps(given))
    written = runtime.written_tokens()
    if written[1] > 0:
        runtime.metadata(METADATA, json.dumps(written))


def of_result(result: Any, owner: Any, *args: Any, **kwargs: Any) -> int:
    """Tokens that a call of one of texts.py wrote, for all its texts.

    Raises:
        Exception: the result is none of those that these libraries return.
    """
    sequences = getattr(result, "sequences", result)
    if hasattr(sequences, "shape"):
        return _of_tensor(sequences, owner, *args, **kwargs)
    many = result if isinstance(result, list) else [result]
    if isinstance(many[0], dict):  # SGLang
        return sum(each["meta_info"]["completion_tokens"] for each in many)
    return sum(len(text.token_ids) for each in many for text in each.outputs)  # vLLM


def _of_tensor(sequences: Any, model: Any, inputs: Any = None, *_: Any, **kwargs: Any) -> int:
    """Transformers: each row is a prompt and its text. Where an encoder reads the prompt, or it was
    given as embeddings, a row is the text, behind one token that begins it or behind none."""
    prompt = next((kwargs[name] for name in ("inputs", "input_ids") if name in kwargs), inputs)
    texts, length = map(int, sequences.shape)
    if model.config.is_encoder_decoder:
        return texts * (length - 1)
    return texts * (length - (0 if prompt is None else int(prompt.shape[1])))


_is_watched: list[bool] = []

"""Libraries that write texts with language models: a call of theirs is a generation.

Forwards inside are a part of it, in whatever process or compiled code they run.
"""

from types import ModuleType

from rlscope.auto import rules
from rlscope.auto.calls import watch_method


def watch_transformers(module: ModuleType) -> None:
    """transformers.generation.utils."""
    _watch(module.GenerationMixin, "generate")


def watch_vllm(module: ModuleType) -> None:
    """vllm.entrypoints.llm."""
    _watch(module.LLM, "generate", "chat")


def watch_sglang(module: ModuleType) -> None:
    """sglang.srt.entrypoints.engine."""
    _watch(module.Engine, "generate")


def _watch(owner: type, *names: str) -> None:
    library = owner.__module__.partition(".")[0]
    for name in names:
        watch_method("generation", owner, name)
        rules.watches("generation", f"{library}.{owner.__name__}.{name}")

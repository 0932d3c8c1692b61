"""Libraries that write texts with language models: a call of theirs is a generation.

Forwards inside are a part of it, in whatever process or compiled code they run.
"""

from types import ModuleType

from rlscope.auto import rules


def watch_transformers(module: ModuleType) -> None:
    """transformers.generation.utils."""
    rules.watch_methods("generation", module.GenerationMixin, "generate")


def watch_vllm(module: ModuleType) -> None:
    """vllm.entrypoints.llm."""
    rules.watch_methods("generation", module.LLM, "generate", "chat")


def watch_sglang(module: ModuleType) -> None:
    """sglang.srt.entrypoints.engine."""
    rules.watch_methods("generation", module.Engine, "generate")

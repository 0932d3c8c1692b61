"""How operations are found, in words that the trace keeps for its reader.

Which rule gave an operation its name follows from that name; which classes and functions a process
watched is noted here as it is hooked, and goes into the trace as metadata.
"""

from rlscope.auto.calls import watch_method
from rlscope.recorder import runtime

TYPE_CHECKING = False  # the first import of typing costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable

METADATA = "rlscope.automatic"
"""Key of a process's rules in the metadata, JSON: name of the operation -> rule. `compiled` is
the rule of every operation compiled:<function>."""

_RULES = {
    "simulation": "outermost step or reset of {}",
    "inference": "from the first forward of {}, or the first random action, to the next step of the"
    " environment. Without gradients it ends with the last conversion of what the forwards"
    " returned. The conversion of the observation counts. So does a forward that neither a step nor"
    " a backward follows",
    "target": "forwards of {} without gradients, in an update that also has forwards with them,"
    " where one of these modules was never trained",
    "advantage": "forwards of {} without gradients, at the start of the first update after a step,"
    " where all these modules are trained",
    "generation": "calls of {} that write a text, or five in a row that write a token each",
    "reference": "forwards of {} without gradients after a generation, where none of these modules"
    " was trained",
    "reward": "forwards of {} without gradients after a generation, where no module was trained"
    " and each text gets one number",
    "backprop": "from the first forward of {} with gradients, or else from the backward, to the end"
    " of the last optimizer step, or else of the backward. If the program learns from the forwards"
    " it acted with, it begins with the end of the last step of the environment. Forwards right"
    " after an update belong to it, if the program converts what it acts on, and nothing for them",
    "compilation": "whatever {} traces and compiles",
    "compiled": "outermost call of a function that {} compiled, or that waits for its results,"
    " before the first step of an environment, or if it is given its own results alone",
    "update": "outermost call of {}: an update, or a part of one",
    "replay": "outermost call of {} that stores experience or samples a batch. From the sample, or"
    " from a random draw, it goes on to the first forward of the update",
    "import": "outermost execution of {}, from the first library that rlscope watches on",
    "evaluation": "outermost call of {}, or steps in a function that is named like one, or in an"
    " environment that the thread does not learn from, with whatever lies between them",
    "rendering": "outermost call of {}",
    "saving": "outermost call of {}",
    "loading": "outermost call of {}",
    "closing": "outermost call of {}",
}

OF_FORWARDS = (
    *("inference", "target", "advantage", "backprop"),
    *("generation", "reference", "reward"),
)
"""Operations that are found by forwards of modules."""

_NO_ENVIRONMENT = {
    "inference": "forwards of {} that no backward follows",
    "evaluation": "outermost call of {}",
}
"""Where no class of environments is watched."""

_OF_ENVIRONMENTS = {
    "inference": "from the first random action to the next step of the environment",
    "evaluation": "steps in a function that is named like one, or in an environment that the thread"
    " does not learn from, with whatever lies between them",
}
"""Where a class of environments is watched, and nothing else is for the operation."""

_watched: dict[str, list[str]] = {"import": ["a module"]}
"""Name of an operation -> what is watched for it."""


def watches(operation: str, *what: str) -> None:
    """From now on calls of these classes or functions may begin the operation."""
    import json  # 3 ms, in processes with such libraries only

    known = _watched.setdefault(operation, [])
    known += [each for each in what if each not in known]
    words = _RULES if "simulation" in _watched else _RULES | _NO_ENVIRONMENT
    rules = {name: words[name].format(" or ".join(known)) for name, known in _watched.items()}
    if "simulation" in _watched:
        rules = _OF_ENVIRONMENTS | rules
    runtime.metadata(METADATA, json.dumps(rules))


def watches_compiled(compiler: str) -> None:
    """From now on calls of functions that this compiles may begin operations."""
    watches("compiled", compiler)
    for operation in ("inference", "backprop"):
        watches(operation, f"a function of {compiler}")
    watches("update", f"a function of {compiler} that computes gradients")


def watch_methods(
    event: str, owner: type, *names: str, watch: "Callable[..., None]" = watch_method
) -> None:
    """Makes calls of a class's methods the event that an operation is named after.

    `watch`: how, `watch_below` for classes below it, too.
    """
    library = owner.__module__.partition(".")[0]
    for name in names:
        watch(event, owner, name)
        watches(event, f"{library}.{owner.__name__}.{name}")

"""RLSCOPE_* variables."""

from dataclasses import fields

import pytest

from rlscope.errors import RecordingError
from rlscope.record.config import Config, known_variables, unknown_variables


def test_unset_and_empty_variables_keep_their_defaults() -> None:
    assert Config.from_environ({"RLSCOPE_MIN_FREE": ""}) == Config(directory="", min_free=1 << 30)


def test_variables_are_read() -> None:
    environ = {"RLSCOPE_DIR": "/runs/ppo", "RLSCOPE_MIN_FREE": "4096", "PATH": "/bin"}
    assert Config.from_environ(environ) == Config(directory="/runs/ppo", min_free=4096)


@pytest.mark.parametrize("text", ["1G", "-1", "1.5", "²"])
def test_a_number_that_is_none_is_one_sentence(text: str) -> None:
    with pytest.raises(RecordingError, match="RLSCOPE_MIN_FREE must be a whole number of bytes"):
        Config.from_environ({"RLSCOPE_MIN_FREE": text})


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("RLSCOPE_GPU_SHARE", "much", "must be such as auto or 10%, not 'much'"),
        ("RLSCOPE_INTERCEPT", "trace", "must be one of patch, monitoring, off, not 'trace'"),
        ("RLSCOPE_NUMPY", "yes", "must be 0 or 1, not 'yes'"),
    ],
)
def test_a_choice_that_is_none_is_one_sentence(variable: str, text: str, sentence: str) -> None:
    with pytest.raises(RecordingError, match=f"{variable} {sentence}"):
        Config.from_environ({variable: text})


def test_what_is_a_layer_travels_by_the_environment() -> None:
    environ = {
        "RLSCOPE_INTERCEPT": "monitoring",
        "RLSCOPE_NUMPY": "1",
        "RLSCOPE_SIMULATORS": "mysim,other.sim",
    }
    config = Config.from_environ(environ)
    assert (config.intercept, config.numpy) == ("monitoring", True)
    assert config.simulators == "mysim,other.sim"


def test_every_field_names_its_variable() -> None:
    assert {"RLSCOPE_DIR", "RLSCOPE_MIN_FREE", "RLSCOPE_INTERCEPT"} <= set(known_variables())
    assert len(known_variables()) == len(fields(Config))


def test_an_unknown_variable_is_reported_with_the_nearest_known_one() -> None:
    environ = {
        "RLSCOPE_DRI": "x",
        "RLSCOPE_DIR": "y",
        "RLSCOPE_QUUX": "z",
        "RLSCOPE_TEST_LONG": "1",
        "OTHER": "w",
    }
    assert unknown_variables(environ) == [
        "RLSCOPE_DRI is unknown and has no effect: did you mean RLSCOPE_DIR?",
        "RLSCOPE_QUUX is unknown and has no effect: "
        f"the known ones are {', '.join(known_variables())}",
    ]

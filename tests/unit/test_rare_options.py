"""`--help` shows the options that most runs need; `--help-all` shows all, and all are taken."""

from __future__ import annotations

import re

import pytest

from rlscope.commands import main

RARE = {
    "prof": {
        "--cuda-graph-trace",
        "--cuda-parts",
        "--cupti",
        "--gpu-calls",
        "--intercept",
        "--keep-iterations",
        "--no-probes",
        "--no-source-text",
        "--no-stacks",
    },
    "calibrate": {"--intercept"},
    "validate": {"--intercept"},
}


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 0
    return capsys.readouterr().out


def _options(text: str) -> set[str]:
    """The options that a help explains, each at the begin of a line."""
    return {name for line in re.findall(r"^  (-.*)", text, re.M) for name in _names(line)}


def _names(line: str) -> list[str]:
    return re.findall(r"--[\w-]+", re.split(" {2,}", line)[0])


@pytest.mark.parametrize("verb", RARE)
def test_help_leaves_rare_options_out_and_names_the_help_that_has_them(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    brief = _printed(capsys, verb, "--help")
    whole = _printed(capsys, verb, "--help-all")
    assert "--help-all" in _options(brief)
    assert _options(whole) - _options(brief) == RARE[verb]
    assert _options(brief) <= _options(whole)
    assert not [name for name in RARE[verb] if name in brief], "neither in examples"


@pytest.mark.parametrize(
    ("verb", "option"), [(verb, name) for verb in RARE for name in sorted(RARE[verb])]
)
def test_a_rare_option_is_taken_as_before(
    verb: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its value is checked, so it is known; one without a value leaves it to the command."""
    value = [] if option.startswith("--no-") else ["no such value"]
    with pytest.raises(SystemExit) as raised:
        main([verb, option, *value])
    assert raised.value.code == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert (f"argument {option}: " if value else "give the command to run") in complaint


def test_the_options_of_a_run_are_grouped_by_what_a_user_wants(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = _printed(capsys, "prof", "--help-all")
    groups = dict(re.findall(r"^(\w.*):\n((?:  .*\n)+)", text, re.M))
    held = {
        title: next((name for name in groups if name.startswith(title)), None)
        for title in ("where", "what", "when", "how long")
    }
    assert {title: _options(groups[str(name)]) for title, name in held.items()} == {
        "where": {"--output", "--force", "--name", "--no-report", "--quiet"},
        "what": {
            "--auto", "--no-auto", "--simulator", "--environment", "--numpy", "--no-waits",
            "--intercept", "--sample-seconds", "--no-probes", "--cuda", "--cuda-api",
            "--source", "--lines", "--no-stacks", "--no-source-text",
            "--cuda-parts", "--cuda-graph-trace", "--cupti",
            "--gpu-share", "--gpu-calls",
        },
        "when": {"--delay-iterations", "--iterations", "--delay-seconds", "--seconds"},
        "how long": {
            "--exit-after-iterations", "--exit-after-seconds", "--rollup", "--max-size",
            "--keep-iterations",
        },
    }  # fmt: skip

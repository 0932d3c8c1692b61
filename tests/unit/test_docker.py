"""docker/: one source of truth for each step and version, checked without Docker."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.files.docker_root import DOCKERFILE, instructions, stages

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = DOCKERFILE.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKERFILE.parent / "compose.yaml").read_text())


def pins() -> dict[str, str]:
    lines = (DOCKERFILE.parent / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def values(instruction: str) -> list[str]:
    return [value for each, value in instructions() if each == instruction]


def test_every_step_is_a_script_of_the_folder() -> None:
    copied = {Path(word).name for value in values("COPY") for word in value.split()[:-1]}
    for step in values("RUN"):
        script = re.fullmatch(r"sh /docker/([a-z]+\.sh)( [a-z/]+)*", step)
        assert script, step
        assert (DOCKERFILE.parent / script[1]).is_file()
        assert script[1] in copied


def test_what_is_copied_is_there() -> None:
    known = stages()
    for value in values("COPY"):
        *sources, _ = value.split()
        if sources[0].startswith("--from="):
            assert sources[0].removeprefix("--from=") in known
        else:
            assert [name for name in sources if not (ROOT / name).exists()] == []


def test_the_targets_end_as_a_user_who_is_not_root() -> None:
    known = stages()
    for target in ("cpu", "gpu"):
        users: list[str] = []
        name = target
        while name in known:
            users += [value for each, value in reversed(known[name]) if each == "USER"]
            name = known[name][0][1].split()[0]
        assert users[:1] == ["1000"]


def test_each_requirement_has_a_version_that_it_allows() -> None:
    pinned = pins()
    lines = [
        *PROJECT["project"]["dependencies"],
        *PROJECT["build-system"]["requires"],
        *(line for extra in ("torch", "gym", "survey") for line in EXTRAS[extra]),
        *(line for line in EXTRAS["test"] if line.startswith("torch==")),
    ]
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": "3.11"}):
            assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_images_have_a_tag_that_stays() -> None:
    images = [f"debian:{values('ARG')[0].partition('=')[2]}", COMPOSE["services"]["store"]["image"]]
    assert values("FROM")[0].startswith("debian:${DEBIAN} ")
    for image in images:
        assert re.search(r":\d+\.\d+", image), image


def test_compose_builds_the_targets_of_the_dockerfile() -> None:
    services = COMPOSE["services"]
    for target in ("cpu", "gpu"):
        build = services[target]["build"]
        assert build["target"] == target
        assert (DOCKERFILE.parent / build["context"] / build["dockerfile"]).samefile(DOCKERFILE)
    ports = services["store"]["ports"]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert "rlscope" not in services["store"]["environment"]["POSTGRES_PASSWORD"]

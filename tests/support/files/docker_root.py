"""What `docker build` would make of docker/Dockerfile, without Docker: its instructions, one by
one, in roots of the Debian release that it names, below build/docker.

    python tests/support/files/docker_root.py TARGET [COMMAND...]

makes the target and runs a command in it as the image's user: its own one if none is given. It
knows the instructions that the Dockerfile has, and stops at any other. Needs root and debootstrap.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import string
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dockerfile_parse import DockerfileParser

from support.files.built_wheel import ROOT, copy_sources

DOCKERFILE = ROOT / "docker" / "Dockerfile"
_ROOTS = ROOT / "build" / "docker"
_ENTER = ROOT / "tests" / "support" / "files" / "docker_root.sh"
# Debian's releases by the number that images are tagged with.
_SUITES = {"12": "bookworm", "13": "trixie"}


@dataclass(frozen=True)
class Stage:
    """A root, and what Docker keeps beside the files of an image."""

    root: Path
    environ: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    )
    arguments: dict[str, str] = field(default_factory=dict)
    """Build arguments: steps see them, what is run in the image does not."""
    folder: str = "/"
    user: str = "0"
    command: tuple[str, ...] = ()

    def run(self, command: Sequence[str], *, user: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a command in the image, as another user if one is given; what it prints is kept."""
        return subprocess.run(
            self._entered(command, self.environ, user), capture_output=True, text=True
        )

    def step(self, command: Sequence[str]) -> None:
        """Runs a step of the build; it prints where we print.

        Raises:
            subprocess.CalledProcessError: It failed.
        """
        seen = self.arguments | self.environ | _pip_of_the_host()
        subprocess.run(self._entered(command, seen), check=True)

    def inside(self, path: str) -> Path:
        """A path of the image as the host sees it; a relative one begins at the current folder."""
        return self.root / os.path.join(self.folder, path).lstrip("/")

    def _entered(
        self, command: Sequence[str], environ: dict[str, str], user: str = ""
    ) -> list[str]:
        user = user or self.user
        variables = [f"{name}={value}" for name, value in environ.items()]
        owner = user if ":" in user else f"{user}:{user}"
        return ["sh", str(_ENTER), str(self.root), owner, self.folder, *variables, *command]


def _pip_of_the_host() -> dict[str, str]:
    """The host's way to packages. Docker gives a build the proxy only; this stands in for both."""
    environ = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    if "PIP_CERT" in os.environ:
        environ["PIP_CERT"] = "/run/cert.pem"
    if "PIP_FIND_LINKS" in os.environ:
        environ["PIP_FIND_LINKS"] = "/run/wheels"
    return environ


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their values, without comments."""
    with DOCKERFILE.open("rb") as file:
        parsed = DockerfileParser(fileobj=file).structure
    return [(i["instruction"], i["value"]) for i in parsed if i["instruction"] != "COMMENT"]


def stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of each stage, FROM first; "": the arguments before the first stage."""
    found: dict[str, list[tuple[str, str]]] = {"": []}
    name = ""
    for instruction, value in instructions():
        if instruction == "FROM":
            name = value.split()[-1]
            found[name] = []
        found[name].append((instruction, value))
    return found


def build(target: str, **arguments: str) -> Stage:
    """Makes a stage and those that it needs, anew. `arguments`: as `docker build --build-arg`."""
    shutil.rmtree(_ROOTS / "stages", ignore_errors=True)
    return _Build(arguments).stage(target)


class _Build:
    def __init__(self, arguments: dict[str, str]) -> None:
        self._given = arguments
        self._stages = stages()
        self._made: dict[str, Stage] = {}

    def stage(self, name: str) -> Stage:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Stage:
        (_, origin), *rest = self._stages[name]
        made = self._begin(origin.split()[0], _ROOTS / "stages" / name)
        for instruction, value in rest:
            print(f"[{name}] {instruction} {value}", flush=True)
            made = self._do(made, instruction, value)
        return made

    def _begin(self, origin: str, root: Path) -> Stage:
        """A copy of another stage, or of the image that the Dockerfile begins with."""
        begun = self.stage(origin) if origin in self._stages else Stage(self._image(origin))
        root.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", "--reflink=auto", begun.root, root], check=True)
        return replace(begun, root=root, arguments={})

    def _image(self, tag: str) -> Path:
        values = dict(_pair(value) for _, value in self._stages[""]) | self._given
        return debian(string.Template(tag).substitute(values))

    def _do(self, made: Stage, instruction: str, value: str) -> Stage:
        match instruction:
            case "RUN":
                made.step(["sh", "-c", value])
            case "COPY":
                self._copy(made, value)
            case "ARG":
                name, default = _pair(value)
                return replace(
                    made, arguments=made.arguments | {name: self._given.get(name, default)}
                )
            case "ENV":
                return replace(made, environ=made.environ | dict(map(_pair, shlex.split(value))))
            case "WORKDIR":
                made.inside(value).mkdir(parents=True, exist_ok=True)
                return replace(made, folder=value)
            case "USER":
                return replace(made, user=value)
            case "CMD":
                return replace(made, command=tuple(json.loads(value)))
            case _:
                raise SystemExit(f"{DOCKERFILE}: not known here: {instruction} {value}")
        return made

    def _copy(self, made: Stage, value: str) -> None:
        *sources, target = value.split()
        if sources[0].startswith("--from="):
            origin = self.stage(sources.pop(0).removeprefix("--from="))
            found = [origin.inside(source) for source in sources]
        else:
            found = [_context() / source for source in sources]
        for source in found:
            into = made.inside(target)
            if not source.is_dir() and target.endswith("/"):
                into = into / source.name
            into.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--no-target-directory", source, into], check=True)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _context() -> Path:
    """The project's files and nothing that was built here."""
    folder = _ROOTS / "stages" / "context"
    if not folder.is_dir():
        copy_sources(folder)
        subprocess.run(["chown", "-R", "0:0", folder], check=True)
    return folder


def debian(tag: str) -> Path:
    """The root of the Debian release that an image's tag names, made once: debian:12.15-slim."""
    release = tag.removeprefix("debian:").split(".")[0]
    root = _ROOTS / f"debian-{release}"
    if not root.is_dir():
        unfinished = root.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        subprocess.run(
            ["debootstrap", "--variant=minbase", _SUITES[release], unfinished], check=True
        )
        unfinished.rename(root)
    return root


def main(arguments: Sequence[str]) -> int:
    """Makes a target and runs a command in it."""
    targets = [name for name in stages() if name]
    if not arguments or arguments[0] not in targets:
        print(f"usage: docker_root.py {{{','.join(targets)}}} [COMMAND...]", file=sys.stderr)
        return 2
    made = build(arguments[0], **arguments_of_the_host())
    done = made.run(arguments[1:] or made.command)
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


def arguments_of_the_host() -> dict[str, str]:
    """PyTorch's own index is not asked where this host's pip has the wheel in a folder."""
    return {"TORCH_INDEX": ""} if "PIP_FIND_LINKS" in os.environ else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The image `cpu`, made by docker_root.py without Docker. It takes minutes: make test-docker."""

from __future__ import annotations

import os
import shutil

import pytest
from support.files.built_wheel import attempt
from support.files.docker_root import Stage, arguments_of_the_host, build

# A user of the host whom the image does not know, as `docker run --user` gives it.
STRANGER = "12345:12345"


def why_not() -> str:
    if os.geteuid() != 0:
        return "only root can enter another root"
    missing = [name for name in ("unshare", "chroot", "debootstrap") if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: util-linux, coreutils, debootstrap)"
    tried = attempt("unshare", "--mount", "--pid", "--fork", "true")
    return f"no namespaces may be made here: {tried.stderr.strip()}" if tried.returncode else ""


@pytest.fixture(scope="module")
def image() -> Stage:
    why = why_not()
    if why:
        required = "docker_root" in os.environ.get("RLSCOPE_TEST_REQUIRE", "").split(",")
        (pytest.fail if required else pytest.skip)(why)
    return build("cpu", **arguments_of_the_host())


@pytest.mark.slow
def test_the_image_runs_the_demo_as_its_own_user(image: Stage) -> None:
    assert image.run(["id", "-u"]).stdout == "1000\n"
    done = image.run(image.command)
    assert done.returncode == 0, done.stderr
    assert "simulation" in done.stderr  # where rls-prof writes the breakdown
    (report,) = image.inside("rlscope_out").glob("*/report.html")
    assert report.stat().st_uid == 1000


@pytest.mark.slow
def test_a_user_whom_the_image_does_not_know_can_use_it(image: Stage) -> None:
    """In a folder of their own, as a mounted one is."""
    folder = image.inside("/home/rlscope/mine")
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    listed = image.run(["rlscope", "survey", "-o", "survey", "--list"], user=STRANGER)
    assert listed.returncode == 0, listed.stderr
    assert "ppo" in listed.stdout
    program = ["python", "-m", "rlscope.workloads.ppo_cartpole", "--total-timesteps", "256"]
    trace = "/home/rlscope/mine/trace"
    done = image.run(["rls-prof", "-o", trace, *program], user=STRANGER)
    assert done.returncode == 0, done.stderr
    assert "backprop" in image.run(["rlscope", "summary", trace], user=STRANGER).stdout


@pytest.mark.slow
def test_the_image_has_no_compiler_and_no_sources(image: Stage) -> None:
    script = (
        "for name in cc g++ cmake git; do command -v $name; done; ls -A /src /wheels 2>/dev/null"
    )
    assert image.run(["sh", "-c", script]).stdout == ""

"""Which shared objects belong to which layer: by what is imported, from where it was imported."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlscope import registry
from rlscope.capture.library import FRAMEWORK, SIMULATOR, Library, module_patterns
from rlscope.capture.watched import Watched

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An imported package in a folder whose name is a glob's."""
    folder = tmp_path / "a[b]*" / "layered_package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(folder.parent)
    __import__("layered_package")
    yield folder
    del sys.modules["layered_package"]


def _below(folder: Path) -> str:
    """The glob of everything below a folder, whose own name is taken literally."""
    return str(folder.resolve()).replace("[", "[[]").replace("*", "[*]") + "/*"


def _module(name: str, **attributes: object) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(attributes)
    return module


def test_a_package_is_its_folder_with_symbolic_links_resolved(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert module_patterns("layered_package", {}) == [_below(package)]
    link = package.parent.parent / "link"
    link.symlink_to(package)
    monkeypatch.setitem(sys.modules, "linked", _module("linked", __path__=[str(link)]))
    assert module_patterns("linked", {}) == [_below(package)]


def test_an_extension_module_is_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mysim", _module("mysim", __file__=f"/opt/x/mysim{SUFFIX}"))
    assert module_patterns("mysim", {}) == [f"/opt/x/mysim{SUFFIX}"]


@pytest.mark.parametrize(
    "module",
    [
        _module("m", __file__="/opt/x/m.py"),
        _module("m"),
        _module("m", __file__=None, __path__=None),
        _module("m", __path__=7),
        None,
        object(),
    ],
)
def test_what_has_no_shared_object_is_not_watched(
    module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "m", module)
    assert module_patterns("m", {}) == []


def test_a_lazy_module_is_not_imported_by_looking_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(types.ModuleType):
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(f"{name} was read")

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))
    assert module_patterns("lazy", {}) == []


def test_a_row_is_read_when_its_package_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    assert watched.update({"os": object()}) == []
    assert not watched.any()
    fake = _module("jaxlib", __path__=["/opt/lib/jaxlib"])
    monkeypatch.setitem(sys.modules, "jaxlib", fake)
    assert watched.update({"jaxlib": fake}) == [("/opt/lib/jaxlib/*", FRAMEWORK)]
    assert watched.any()
    assert watched.update({"jaxlib": fake}) == []


def test_a_package_of_a_library_that_is_imported_later_is_watched_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = Watched(left_out=["numpy"])  # which this process has imported
    torch = _module("torch", __path__=["/opt/lib/torch"])
    monkeypatch.setitem(sys.modules, "torch", torch)
    for absent in ("functorch", "torchvision", "torchaudio", "triton"):
        monkeypatch.delitem(sys.modules, absent, raising=False)
    first = watched.update({"torch": torch})
    assert ("/opt/lib/torch/*", FRAMEWORK) in first
    assert any("torchinductor_" in pattern for pattern, _ in first)
    vision = _module("torchvision", __path__=["/opt/lib/torchvision"])
    monkeypatch.setitem(sys.modules, "torchvision", vision)
    modules = {"torch": torch, "torchvision": vision}
    assert watched.update(modules) == [("/opt/lib/torchvision/*", FRAMEWORK)]


def test_numpy_is_watched_only_on_request() -> None:
    import numpy

    folder = Path(numpy.__file__).resolve().parent
    assert Watched.from_environ({}).update({"numpy": numpy}) == []
    assert Watched.from_environ({"RLSCOPE_NUMPY": "0"}).update({"numpy": numpy}) == []
    asked = Watched.from_environ({"RLSCOPE_NUMPY": "1"})
    assert asked.update({"numpy": numpy}) == [(f"{folder}/*", FRAMEWORK)]
    assert asked.loaded() == {"numpy": FRAMEWORK}


def test_an_extension_module_is_watched_while_it_is_imported() -> None:
    """Its file is loaded before it is in sys.modules."""
    watched = Watched(named=["mysim"])
    watched.add_extension("mysim", f"/opt/x/mysim{SUFFIX}")
    watched.add_extension("pybullet", f"/opt/x/pybullet{SUFFIX}")
    patterns = [pattern for pattern, _ in watched.update({})]
    assert f"/opt/x/mysim{SUFFIX}" in patterns
    assert f"/opt/x/pybullet{SUFFIX}" in patterns


def test_a_named_module_is_a_simulator_once_it_is_imported(package: Path) -> None:
    watched = Watched.from_environ({"RLSCOPE_SIMULATORS": "layered_package,not_imported"})
    assert watched.update({}) == [(_below(package), SIMULATOR)]
    assert watched.loaded() == {}  # no shared object of it is in this process


def test_what_the_user_names_goes_before_a_row() -> None:
    import numpy

    watched = Watched()
    watched.add(SIMULATOR, "numpy")
    watched.update({"numpy": numpy})
    assert watched.loaded() == {"numpy": SIMULATOR}


def test_a_folder_is_known_by_its_whole_name_not_by_a_part(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numpy below a checkout called torch is numpy."""
    import numpy

    inside = Path(numpy.__file__).resolve().parents[1] / "nump"
    monkeypatch.setitem(sys.modules, "torch", _module("torch", __path__=[str(inside)]))
    watched = Watched()
    watched.update(sys.modules)
    assert "torch" not in watched.loaded()


@pytest.mark.parametrize("group", [registry.FRAMEWORKS, registry.SIMULATORS])
def test_every_row_is_a_library_named_after_a_package_of_it(group: str) -> None:
    for name in registry.builtin(group):
        library = registry.load(group, name)
        assert isinstance(library, Library)
        assert name in library.packages


def test_a_row_of_another_package_is_found_and_a_broken_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    information = tmp_path / "other-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[rlscope.simulators]\nlayered_sim = other_rows:LIBRARY\nbroken_sim = other_rows:MISSING\n"
    )
    (tmp_path / "other_rows.py").write_text(
        "from rlscope.capture.library import Library\nLIBRARY = Library(['layered_sim'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    fake = _module("layered_sim", __path__=["/opt/lib/layered_sim"])
    monkeypatch.setitem(sys.modules, "layered_sim", fake)
    watched = Watched()
    new = watched.update({"layered_sim": fake, "broken_sim": fake})
    assert new == [("/opt/lib/layered_sim/*", SIMULATOR)]
    (problem,) = watched.problems
    assert "broken_sim" in problem


def test_nothing_of_ours_is_imported_before_native_code_is() -> None:
    """What `import rlscope` costs every traced interpreter."""
    program = "import sys, rlscope; print(*(m for m in sys.modules if m.startswith('rlscope')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "rlscope.capture.native" in loaded
    assert not loaded & {"rlscope.registry", "rlscope.capture.watched", "rlscope.capture.library"}

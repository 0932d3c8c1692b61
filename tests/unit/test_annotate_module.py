"""The front door: what `import rlscope` offers, and what it costs."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from support.process.recorded_child import environment, run

import rlscope as rls

ROOT = Path(__file__).resolve().parent.parent.parent

# The package itself, and what any interpreter has loaded before a program begins or a script
# language cannot do without. Everything else must wait for its first use.
LIGHT = {"__future__", "importlib", "_runtime", "atexit"}


def test_all_is_sorted_and_complete() -> None:
    assert rls.__all__ == sorted(rls.__all__, key=lambda name: (not name[0].isupper(), name))
    for name in rls.__all__:
        assert getattr(rls, name) is not None
    tree = ast.parse((ROOT / "rlscope" / "__init__.py").read_text())
    imported = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    public = {
        name for name in imported if name not in ("LazyModule", "TYPE_CHECKING", "__version__")
    }
    assert public | {"analysis"} == set(rls.__all__)


def test_everything_public_is_documented() -> None:
    for name in set(rls.__all__) - {"analysis"}:
        assert getattr(rls, name).__doc__, name


def test_import_loads_nothing_heavy() -> None:
    printed = run(
        """
        import sys
        before = set(sys.modules)
        import rlscope
        print(*sorted(set(sys.modules) - before))
        """
    )
    loaded = {name for name in printed.split() if name.split(".")[0] not in LIGHT}
    assert loaded == {
        "rlscope", "rlscope._runtime", "rlscope._version", "rlscope.annotations",
        "rlscope.annotations.annotate",
        "rlscope.annotations.torch_compile", "rlscope.capture", "rlscope.capture.native",
        "rlscope.errors", "rlscope.lazy", "rlscope.recorder",
    }  # fmt: skip


def test_lazy_attributes_arrive() -> None:
    run(
        """
        import rlscope as rls
        assert callable(rls.analysis.breakdown)
        assert "breakdown" in dir(rls.analysis)
        from rlscope.analysis import breakdown
        assert rls.analysis.breakdown is breakdown
        """
    )


def test_load_is_callable_before_and_after_its_module_is_imported() -> None:
    run(
        """
        import rlscope as rls
        def refused():
            try:
                rls.load("/nonexistent/run")
            except rls.RlscopeError:
                return True
        assert refused()
        assert refused()
        """
    )
    run(
        """
        import rlscope as rls
        import rlscope.opening
        try:
            rls.load("/nonexistent/run")
        except rls.RlscopeError:
            pass
        else:
            raise AssertionError
        """
    )


def test_the_module_has_no_getattr_of_its_own() -> None:
    """With one, CPython looks up rls.operation anew at each call: 50 ns."""
    assert "__getattr__" not in vars(sys.modules["rlscope"])


def test_the_version_is_that_of_the_distribution() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    declared = re.search(r'^version = "(.*)"$', text, re.MULTILINE)
    assert declared is None or declared[1] == rls.__version__


def test_programs_run_where_the_recorder_cannot_be_loaded(tmp_path: Path) -> None:
    blocked = environment()
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['rlscope._runtime'] = None\n"
    )
    blocked["PYTHONPATH"] = f"{tmp_path}:{ROOT}"
    run(
        f"""
        import contextlib, io
        import rlscope as rls

        @rls.operation("decorated")
        def double(value):
            return 2 * value

        @rls.operation("generator")
        def count():
            yield 1

        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            for _ in range(2):
                with rls.profile({str(tmp_path / "run")!r}), rls.operation("x"), rls.phase("y"):
                    assert double(2) == 4 and list(count()) == [1]
        assert said.getvalue().startswith("rlscope: cannot record: "), said.getvalue()
        assert said.getvalue().count("\\n") == 1
        rls.iteration(); rls.progress(1, 2); rls.metadata(a=1); rls.process("p")
        rls.set_operation("a"); rls.end_operation("a"); rls.start(); rls.stop()
        try:
            rls.operation(3)
        except TypeError as error:
            assert str(error) == "name of an operation must be str, not int"
        else:
            raise AssertionError
        """,
        blocked,
    )
    assert not (tmp_path / "run").exists()

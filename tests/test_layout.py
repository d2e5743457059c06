"""The layout of the package: which way imports go, what is public, how long a file is."""

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

import pytest

import loopspan

SRC = Path(__file__).parents[1] / "src" / "loopspan"
MAX_LINES = 350

VALUES = {"errors", "jsontext", "messages", "secrets"}
SETTINGS = VALUES | {"configuration", "environment", "tools"}
LOOP = SETTINGS | {"builtin", "demo", "flow", "local", "prompts", "providers", "telemetry"}

ALLOWED: dict[str, set[str]] = {
    "jsontext": set(),
    "secrets": set(),
    "messages": {"errors", "jsontext"},
    "errors": {"jsontext", "messages"},
    "environment": VALUES | {"telemetry.content"},
    "configuration": VALUES | {"environment", "telemetry.content", "tools"},
    "tools": VALUES,
    "builtin": VALUES | {"tools"},
    "prompts": SETTINGS,
    "providers": SETTINGS,
    "telemetry": SETTINGS | {"providers"},  # a loop of one's own is traced by its wire bodies
    # Spans only: it reads any trace of the conventions, so it takes their names and no more.
    "runs": {
        "errors",
        "jsontext",
        "messages",
        "telemetry.record",
        "telemetry.semconv",
        "telemetry.store",
    },
    "catalogue": LOOP | {"loop"},
    "demo": SETTINGS | {"builtin", "providers"},
    "local": SETTINGS | {"providers"},
    # Effects and I/O: it knows values and errors, not what the loop does with them.
    "flow": VALUES,
    "loop": LOOP | {"runs"},  # a run hands out its record
    "testing": LOOP | {"loop", "runs"},
    "playground": LOOP | {"__init__", "catalogue", "loop", "runs"},
    "instrumentor": {"environment", "runs", "telemetry"},
    "cli": LOOP | {"__init__", "catalogue", "loop", "playground", "runs"},
    "__main__": {"cli"},
    # What needs an extra, a server or a test is imported by its own name.
    "__init__": LOOP - {"demo", "local"} | {"loop", "runs"},
}
"""What each module or package at the top of loopspan may import besides itself."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a module of the package by another; names are dotted, below the package."""

    importer: str
    target: str
    line: int

    @property
    def against(self) -> bool:
        """It is not in `ALLOWED`."""
        importer = top(self.importer)
        allowed = ALLOWED.get(importer, set()) | {importer}
        return not any(f"{self.target}.".startswith(f"{name}.") for name in allowed)


def top(module: str) -> str:
    return module.partition(".")[0]


def modules(root: Path) -> dict[str, Path]:
    """The files of a package by dotted name below it; its own `__init__.py` is `__init__`."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[-1] == "__init__" and len(parts) > 1
        found[".".join(parts[:-1] if package else parts)] = path
    return found


def imported(node: ast.AST, package: str) -> list[str]:
    """The full dotted names that an import statement of this package asks for, else none."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            origin = resolve_name("." * level + (module or ""), package)
            return [f"{origin}.{alias.name}" for alias in names]
        case _:
            return []


def imports(root: Path) -> Iterator[Import]:
    """Each import of one module of the package by another, type-checking ones too."""
    known = modules(root)
    for importer, path in known.items():
        package = ".".join([root.name, *path.relative_to(root).parent.parts])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name for name in imported(node, package) if top(name) == root.name]
            for target in dict.fromkeys(module_of(name, known) for name in names):
                assert isinstance(node, ast.stmt)
                yield Import(importer, target, node.lineno)


def module_of(name: str, known: Collection[str]) -> str:
    """The module that a full dotted name is, or is defined in."""
    target = name.partition(".")[2]
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target or "__init__"


def violations(root: Path) -> list[str]:
    """What is wrong with the imports of a package, a sentence each."""
    unknown = sorted({top(module) for module in modules(root)} - ALLOWED.keys())
    wrong = (i for i in imports(root) if top(i.importer) not in unknown and i.against)
    return [f"{module} has no entry in ALLOWED" for module in unknown] + [
        f"{i.importer}:{i.line} must not import {i.target}" for i in wrong
    ]


def package_at(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "loopspan" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "loopspan"


def test_imports_go_one_way() -> None:
    assert violations(SRC) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"messages.py": "from loopspan.loop import ToolLoop, run", "loop.py": ""},
            ["messages:1 must not import loop"],
            id="name",
        ),
        pytest.param(
            {"errors.py": "import os\nimport loopspan.cli as cli", "cli.py": ""},
            ["errors:2 must not import cli"],
            id="module",
        ),
        pytest.param(
            {"messages.py": "from loopspan import cli", "cli.py": ""},
            ["messages:1 must not import cli"],
            id="module-from-package",
        ),
        pytest.param(
            {"messages.py": "from loopspan import Message", "__init__.py": ""},
            ["messages:1 must not import __init__"],
            id="package",
        ),
        pytest.param(
            {"providers/openai.py": "from ..loop import ToolLoop", "loop.py": ""},
            ["providers.openai:1 must not import loop"],
            id="relative",
        ),
        pytest.param(
            {"runs/step.py": "from loopspan.telemetry import spans", "telemetry/spans.py": ""},
            ["runs.step:1 must not import telemetry.spans"],
            id="another-part-of-an-allowed-package",
        ),
        pytest.param(
            {"runs/step.py": "from loopspan.telemetry import spans", "telemetry/__init__.py": ""},
            ["runs.step:1 must not import telemetry"],
            id="package-of-an-allowed-part",
        ),
        pytest.param(
            {
                "runs/step.py": "if TYPE_CHECKING:\n    from loopspan.providers import Adapter",
                "providers/__init__.py": "",
            },
            ["runs.step:2 must not import providers"],
            id="type-checking",
        ),
        pytest.param(
            {"prompts/skills.py": "def f():\n    from loopspan.cli import main", "cli.py": ""},
            ["prompts.skills:2 must not import cli"],
            id="inside-a-function",
        ),
        pytest.param(
            {"utils.py": ""}, ["utils has no entry in ALLOWED"], id="module-without-entry"
        ),
    ],
)
def test_violation_is_found(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert violations(package_at(tmp_path, files)) == expected


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"cli.py": "from loopspan.loop import ToolLoop", "loop.py": ""},
            id="downwards",
        ),
        pytest.param(
            {"runs/step.py": "from loopspan.telemetry import semconv", "telemetry/semconv.py": ""},
            id="allowed-part-of-a-package",
        ),
        pytest.param(
            {"runs/step.py": "from loopspan.runs.run import Run", "runs/run.py": ""},
            id="same-package",
        ),
        pytest.param({"messages.py": "import loopspanner.loop"}, id="another-package"),
    ],
)
def test_allowed_import_is_not_a_violation(tmp_path: Path, files: dict[str, str]) -> None:
    assert violations(package_at(tmp_path, files)) == []


def test_all_names_what_is_public() -> None:
    public = [
        name
        for name, value in vars(loopspan).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert loopspan.__all__ == sorted(public, key=str.casefold)


def only_imports_and_lists(source: str) -> bool:
    """The source is a docstring, imports and `__all__`, each of them optional."""
    body = ast.parse(source).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                pass
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.AnnAssign(target=ast.Name(id="__all__")):
                pass
            case _:
                return False
    return True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", True),
        ('"""Doc."""\nimport a\nfrom b import c\n__all__ = ["a", "c"]', True),
        ("__all__: list[str] = []", True),
        ('__version__ = "1"', False),
        ("import a\na.patch()", False),
        ("def f(): ...", False),
    ],
)
def test_only_imports_and_lists(source: str, expected: bool) -> None:
    assert only_imports_and_lists(source) is expected


def test_init_files_only_import_and_list() -> None:
    files = SRC.rglob("__init__.py")
    assert [str(f) for f in files if not only_imports_and_lists(f.read_text("utf-8"))] == []


def test_no_source_file_is_long() -> None:
    files = [f for f in SRC.rglob("*") if f.suffix in {".css", ".html", ".js", ".py"}]
    lengths = {str(f.relative_to(SRC)): len(f.read_text("utf-8").splitlines()) for f in files}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}

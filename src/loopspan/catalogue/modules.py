"""The modules of tools that a catalogue names: found beside it, or as Python finds modules."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from loopspan.catalogue.files import Files
from loopspan.catalogue.places import place, shown
from loopspan.errors import ConfigurationError


def check_modules(catalogue: Path, names: Iterable[str], files: Files) -> None:
    """Raise `ConfigurationError` for a module that is not there; none is imported."""
    where = place(catalogue, ("tools", "modules"))
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise ConfigurationError(
                f"{where}: expected the name of a Python module, got {shown(name)}"
            )
        top = name.partition(".")[0]
        own = (catalogue.with_name(f"{top}.py"), catalogue.with_name(top))
        for path in own:
            files.watch(path)
        if not any(path.exists() for path in own) and not _is_installed(top):
            raise ConfigurationError(
                f"{where}: there is no module {name!r}; put it beside the catalogue, or its folder "
                f"on PYTHONPATH"
            )


def _is_installed(name: str) -> bool:
    # What is imported already need not say where it came from.
    return name in sys.modules or importlib.util.find_spec(name) is not None


@contextmanager
def beside(catalogue: Path) -> Iterator[None]:
    """Let modules beside the catalogue be found, before all others."""
    folder = str(catalogue.absolute().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)

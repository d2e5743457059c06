"""The Python that runs, and the packages that it can import."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import distributions
from pathlib import Path

from loopspan.tools import tool

_MOST_PACKAGES = 300


@tool(group="builtin")
def python_information() -> dict[str, str | bool]:
    """Tell which Python runs this program, and on which platform."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        # The name alone: the folders above it often tell who the user is.
        "executable": Path(sys.executable or "").name,
        "virtual_environment": sys.prefix != sys.base_prefix,
    }


@tool(group="builtin")
def installed_packages(name_contains: str = "") -> dict[str, object]:
    """List the installed Python packages with their versions.

    Args:
        name_contains: List only packages whose name contains this text, in any case.
    """
    wanted = name_contains.lower()
    found: dict[str, str] = {}
    for distribution in distributions():
        metadata = distribution.metadata
        if "Name" not in metadata or "Version" not in metadata:
            continue  # the rest of a package that was half removed
        if wanted in metadata["Name"].lower():
            found.setdefault(metadata["Name"], metadata["Version"])
    names = sorted(found, key=str.lower)
    result: dict[str, object] = {"packages": {name: found[name] for name in names[:_MOST_PACKAGES]}}
    if len(names) > _MOST_PACKAGES:
        result["not_listed"] = len(names) - _MOST_PACKAGES
    return result

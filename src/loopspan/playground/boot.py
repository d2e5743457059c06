"""What the page needs to know before it shows anything."""

from __future__ import annotations

import os
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from loopspan.catalogue import Catalogue
from loopspan.configuration import MAX_ROUNDS_CEILING, Configuration
from loopspan.playground.bodies import Shape
from loopspan.playground.hub import Hub
from loopspan.playground.principals import PERMISSIONS, Principal
from loopspan.playground.requests import BODY_LIMIT, IMPORT_LIMIT
from loopspan.playground.runner import Runner
from loopspan.playground.store import Store
from loopspan.playground.stream import MOST_STREAMS
from loopspan.tools import ToolRegistry


def boot(
    principal: Principal,
    runner: Runner,
    store: Store,
    hub: Hub,
    started_at: str,
) -> Shape:
    """Return the process, who is there, the limits, and all that a run may be made of."""
    catalogue, tools = runner.catalogue, runner.tools()
    memory = store.run_trace
    return {
        "version": version("loopspan"),
        "process": {"pid": os.getpid(), "started_at": started_at, "epoch": hub.epoch},
        "seq": hub.seq,
        "principal": {"name": principal.name, "is_admin": principal.is_admin},
        "can": [each for each in PERMISSIONS if principal.may(each)],
        "limits": {
            "max_rounds": MAX_ROUNDS_CEILING,
            "running": runner.most_running,
            "cap": asdict(runner.cap),
            "streams": MOST_STREAMS,
            "body_bytes": BODY_LIMIT,
            "import_bytes": IMPORT_LIMIT,
            "memory_bytes": memory.max_bytes,
            "memory_runs": memory.max_runs,
            "memory_seconds": memory.max_age,
        },
        "configurations": [
            _configuration(each, tools, content=principal.may("content"))
            for each in catalogue.configurations.values()
        ],
        "tools": [
            {
                "name": tool.name,
                "group": tool.group,
                "description": tool.description,
                "h": store.shared.json(tool.definition.to_json())["h"],
                "enabled": tool.enabled,
                "requires_admin": tool.requires_admin,
            }
            for tool in tools
        ],
        "skills": _skills(catalogue),
        "snippets": [
            {"id": s.identifier, "name": s.name or s.identifier, "tags": list(s.tags)}
            for s in catalogue.library.snippets
        ],
        "capture": {"content": "full", "raw": True, "export": runner.can_export},
    }


def _configuration(each: Configuration, tools: ToolRegistry, *, content: bool) -> Shape:
    provider, _, model = str(each.model).partition(":")
    allowed = [tool.name for tool in tools if each.tools is None or tool.name in each.tools]
    defaults: dict[str, Any] = {
        "max_rounds": each.max_rounds,
        "max_tokens": each.parameters.max_tokens,
        "temperature": each.parameters.temperature,
        "thinking": each.parameters.reasoning_level,
        "budget": asdict(each.budget),
        "context_window": each.context_window,
        "snippet_tags": list(each.snippet_tags),
        "system_prompt": each.system_prompt if content else None,
    }
    return {
        "name": each.name,
        "description": each.description,
        "provider": provider,
        "model": model,
        "tools": allowed,
        "skills": list(each.skills),
        "snippets": list(each.snippets),
        "defaults": defaults,
    }


def _skills(catalogue: Catalogue) -> list[Shape]:
    return [
        {
            "id": f"{skill.source}/{skill.identifier}",
            "name": skill.title,
            "description": skill.description,
            "enabled": skill.enabled,
            "verified": skill.is_verified,
        }
        for skill in catalogue.library.skills
    ]

"""The commands."""

from __future__ import annotations

from typing import Any

import typer

from loopspan.cli import options as opt
from loopspan.cli.check import CheckSettings, check
from loopspan.cli.ending import ended
from loopspan.cli.run import run
from loopspan.cli.settings import RunSettings
from loopspan.cli.stderr import say

DEMO = "demo:"

app = typer.Typer(
    help="Run prompts with tools, and see each step: what was sent, what came back, what it cost.",
    epilog="Exit codes: 0 answer or dry run, 1 failed, 2 usage or configuration, 3 cut short, "
    "130 interrupted.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def before_any_command(version: opt.Version = False) -> None:
    """Take the options that come before a command."""


@app.command("run")
def run_command(
    prompt: opt.Prompt,
    model: opt.Model = None,
    base_url: opt.BaseUrl = None,
    tools: opt.Tools = None,
    no_tools: opt.NoTools = False,
    allow: opt.Allow = None,
    system: opt.System = None,
    max_rounds: opt.MaxRounds = None,
    temperature: opt.Temperature = None,
    max_tokens: opt.MaxTokens = None,
    dry_run: opt.DryRun = False,
    stream: opt.Stream = False,
    capture_content: opt.CaptureContent = False,
    capture_raw: opt.CaptureRaw = False,
    export: opt.Export = False,
    json: opt.Json = False,
) -> None:
    """Run a prompt and show each step as it happens.

    Keys come from the provider's usual environment variable, never from an option;
    `loopspan check` shows which are set.
    """
    given: dict[str, Any] = locals()
    given |= {"model": model or DEMO, "tools": _names(tools) or (), "allow": _names(allow)}

    def command() -> int:
        settings = RunSettings(**given)
        if model is None:
            say("note", "no --model given; using demo:, an embedded model without account or key")
        return run(settings)

    raise typer.Exit(ended(command))


@app.command("check")
def check_command(
    probe: opt.Probe = False, models: opt.ProbedModels = None, json: opt.Json = False
) -> None:
    """Show which keys are set, what spans may carry, and whether the exporter can be reached.

    Exits with 0 if everything that is configured works, else with 1.
    """
    settings = CheckSettings(probe=probe, models=_names(models) or (), json=json)
    raise typer.Exit(ended(lambda: check(settings)))


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    """Return the names of a repeated option, those separated by commas too."""
    if not given:
        return None
    return tuple(name for text in given for name in map(str.strip, text.split(",")) if name)

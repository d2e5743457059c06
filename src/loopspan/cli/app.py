"""The commands and their options."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer

from loopspan.cli.check import CheckSettings, check
from loopspan.cli.ending import ended
from loopspan.cli.run import run
from loopspan.cli.settings import RunSettings
from loopspan.cli.stderr import say
from loopspan.configuration import DEFAULT_MAX_ROUNDS, MAX_ROUNDS_CEILING

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

JSON = Annotated[bool, typer.Option("--json", help="Print JSON, one object a line.")]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"loopspan {version('loopspan')}")
        raise typer.Exit


@app.callback()
def options_of_all(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command("run")
def run_command(
    prompt: Annotated[str, typer.Argument(help="What to ask the model.", show_default=False)],
    model: Annotated[
        str | None,
        typer.Option(help="As provider:model; without it the embedded demo:.", show_default=False),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Another address than the provider's own.")
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            help="Python modules with tools instead of the built-in ones; repeat it, or separate "
            "them by commas.",
        ),
    ] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Offer no tools at all.")] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOOL",
            help="Offer these tools only; repeat it, or separate them by commas.",
        ),
    ] = None,
    system: Annotated[str | None, typer.Option(metavar="TEXT", help="The system prompt.")] = None,
    max_rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_ROUNDS_CEILING,
            help=f"How often the model may be asked; {DEFAULT_MAX_ROUNDS} without it.",
        ),
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0)] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="The most tokens of an answer.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")
    ] = False,
    stream: Annotated[
        bool, typer.Option("--stream", help="Ask for the answer in pieces, as it is made.")
    ] = False,
    capture_content: Annotated[
        bool, typer.Option("--capture-content", help="Let --export send prompts and answers too.")
    ] = False,
    capture_raw: Annotated[
        bool, typer.Option("--capture-raw", help="Keep and show the bodies as they were sent.")
    ] = False,
    export: Annotated[
        bool, typer.Option("--export", help="Send the spans where the OTEL_* variables say.")
    ] = False,
    json: JSON = False,
) -> None:
    """Run a prompt and show each step as it happens.

    Keys come from the provider's usual environment variable, never from an option; `loopspan
    check` shows which are set.
    """
    given: dict[str, Any] = locals()
    given |= {"tools": _names(tools) or (), "allow": _names(allow), "model": model or DEMO}

    def command() -> int:
        settings = RunSettings(**given)
        if model is None:
            say("note", "no --model given; using demo:, an embedded model without account or key")
        return run(settings)

    raise typer.Exit(ended(command))


@app.command("check")
def check_command(
    probe: Annotated[
        bool,
        typer.Option("--probe", help="Send one tiny request to each provider that has a key."),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROVIDER:MODEL", help="Probe this model instead of the usual one; repeatable."
        ),
    ] = None,
    json: JSON = False,
) -> None:
    """Show which keys are set, what spans may carry, and whether the exporter can be reached.

    Exits with 0 if everything that is configured works, else with 1.
    """
    settings = CheckSettings(probe=probe, models=_names(model) or (), json=json)
    raise typer.Exit(ended(lambda: check(settings)))


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    """Return the names of a repeated option, those separated by commas too."""
    if not given:
        return None
    return tuple(name for text in given for name in map(str.strip, text.split(",")) if name)

"""The options of the commands: their names, what they take, what they say of themselves."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from loopspan.configuration import DEFAULT_MAX_ROUNDS, MAX_ROUNDS_CEILING


def number(text: str) -> float:
    """Return the number that was given; says which text is none."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number, such as 0.7") from None


def whole_number(text: str) -> int:
    """Return the whole number that was given; says which text is none."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no whole number, such as 5") from None


def print_version(asked: bool) -> None:
    """Print the version and end, where that was asked for."""
    if asked:
        typer.echo(f"loopspan {version('loopspan')}")
        raise typer.Exit


Version: TypeAlias = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line, each as it happens.")
]

Prompt: TypeAlias = Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask the model.")]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="PROVIDER:MODEL", help="Without it the embedded demo: answers."),
]
Catalogue: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The catalogue; ./loopspan.toml where there is one."),
]
Config: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="A configuration of the catalogue.")
]
Skills: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--skill", metavar="ID", help="Use this skill of the catalogue too; repeatable."),
]
Snippets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--snippet", metavar="ID", help="Use this snippet of the catalogue too; repeatable."
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="Another address than the provider's own.")
]
Tools: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Offer the tools of this Python module instead of the built-in ones; repeat it, or "
        "separate several by commas.",
    ),
]
NoTools: TypeAlias = Annotated[bool, typer.Option("--no-tools", help="Offer no tools at all.")]
Allow: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOOL",
        help="Offer this tool and no other; repeat it, or separate several by commas.",
    ),
]
System: TypeAlias = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The system prompt of this run.")
]
MaxRounds: TypeAlias = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        metavar="N",
        help=f"How often the model may be asked, at most {MAX_ROUNDS_CEILING}; "
        f"{DEFAULT_MAX_ROUNDS} without it.",
    ),
]
Temperature: TypeAlias = Annotated[
    float | None,
    typer.Option(parser=number, metavar="X", help="How freely the model chooses its words."),
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(parser=whole_number, metavar="N", help="The most tokens of one answer."),
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")
]
Stream: TypeAlias = Annotated[
    bool, typer.Option("--stream", help="Ask for the answer in pieces, and show them.")
]
CaptureContent: TypeAlias = Annotated[
    bool,
    typer.Option("--capture-content", help="Let --export send prompts, answers and results too."),
]
CaptureRaw: TypeAlias = Annotated[
    bool, typer.Option("--capture-raw", help="Keep and show the bodies as they were sent.")
]
Export: TypeAlias = Annotated[
    bool, typer.Option("--export", help="Send the spans where the OTEL_* variables say.")
]

Probe: TypeAlias = Annotated[
    bool, typer.Option("--probe", help="Send a tiny request to each provider that has a key.")
]
ProbedModels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="Probe this model instead of its provider's usual one; repeatable.",
    ),
]

Host: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Listen on this address; one that other machines reach needs --allowed-host.",
    ),
]
Port: TypeAlias = Annotated[
    int,
    typer.Option(metavar="N", parser=whole_number, help="Listen on this port; 0 takes a free one."),
]
AllowedHosts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Answer to this host too, such as 'name:8600' or 'https://name'; repeat it, or "
        "separate several by commas.",
    ),
]
Jaeger: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="The Jaeger to ask for traces.")
]
Tempo: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="The Tempo to ask for traces.")
]
LocalModel: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--local-model", help="Start the small model of the extra 'local' and offer it too."
    ),
]
FirstPrompt: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Run this prompt at once, with --config or the catalogue's first configuration, and "
        "open its run.",
    ),
]
NoOpen: TypeAlias = Annotated[bool, typer.Option("--no-open", help="Open no browser.")]

Shown: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TRACE_ID|FILE", help="The id of a trace in a backend, a file, or - for its input."
    ),
]
ShownJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, each run as an object on a line.")
]

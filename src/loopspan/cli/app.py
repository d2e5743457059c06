"""The commands."""

from __future__ import annotations

from typing import Any

import typer

from loopspan.cli import options as opt
from loopspan.cli.check import CheckSettings, check
from loopspan.cli.ending import ended
from loopspan.cli.playground import PORT, PlaygroundSettings, playground
from loopspan.cli.run import run
from loopspan.cli.settings import RunSettings
from loopspan.cli.show import ShowSettings, show
from loopspan.cli.skills import list_skills, lock

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
    config: opt.Config = None,
    catalogue: opt.Catalogue = None,
    base_url: opt.BaseUrl = None,
    tools: opt.Tools = None,
    no_tools: opt.NoTools = False,
    allow: opt.Allow = None,
    system: opt.System = None,
    skill: opt.Skills = None,
    snippet: opt.Snippets = None,
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
    given["skills"] = _names(given.pop("skill")) or ()
    given["snippets"] = _names(given.pop("snippet")) or ()
    given |= {"tools": _names(tools) or (), "allow": _names(allow)}

    raise typer.Exit(ended(lambda: run(RunSettings(**given))))


@app.command("playground")
def playground_command(
    catalogue: opt.Catalogue = None,
    tools: opt.Tools = None,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = PORT,
    allowed_host: opt.AllowedHosts = None,
    jaeger: opt.Jaeger = None,
    tempo: opt.Tempo = None,
    local_model: opt.LocalModel = False,
    prompt: opt.FirstPrompt = None,
    config: opt.Config = None,
    no_open: opt.NoOpen = False,
) -> None:
    """Serve a page that runs configurations and shows each step, live.

    It prints a link that logs in once and opens it; only this machine reaches the page.
    """

    def serve() -> int:
        return playground(
            PlaygroundSettings(
                catalogue=catalogue,
                tools=_names(tools) or (),
                host=host,
                port=port,
                allowed_hosts=_names(allowed_host) or (),
                jaeger=jaeger,
                tempo=tempo,
                local_model=local_model,
                prompt=prompt,
                config=config,
                open_browser=not no_open,
            )
        )

    raise typer.Exit(ended(serve))


skills_app = typer.Typer(help="The skills of a catalogue and their checksums.")
app.add_typer(skills_app, name="skills", no_args_is_help=True)


@skills_app.command("list")
def skills_list_command(catalogue: opt.Catalogue = None, json: opt.Json = False) -> None:
    """Show each skill, and whether it is as it was recorded.

    Exits with 0 if every enabled skill would be used, else with 1.
    """
    raise typer.Exit(ended(lambda: list_skills(catalogue, json)))


@skills_app.command("lock")
def skills_lock_command(catalogue: opt.Catalogue = None, json: opt.Json = False) -> None:
    """Record the checksums of all skills as they are now, beside the catalogue.

    Read a skill before you lock it: from then on it is used.
    """
    raise typer.Exit(ended(lambda: lock(catalogue, json)))


@app.command("show")
def show_command(
    what: opt.Shown,
    jaeger: opt.Jaeger = None,
    tempo: opt.Tempo = None,
    json: opt.ShownJson = False,
) -> None:
    """Show a run that is over: how it came out, what stands out, each step.

    A trace id is asked of Jaeger or Tempo; without an option, of LOOPSPAN_JAEGER_URL and
    LOOPSPAN_TEMPO_URL. A file holds OTLP JSON, or what `loopspan run --json` wrote.
    Exits with 0 if a run is shown, however it came out.
    """
    settings = ShowSettings(what=what, jaeger=jaeger, tempo=tempo, json=json)
    raise typer.Exit(ended(lambda: show(settings)))


@app.command("check")
def check_command(
    catalogue: opt.Catalogue = None,
    probe: opt.Probe = False,
    models: opt.ProbedModels = None,
    json: opt.Json = False,
) -> None:
    """Show which keys are set, what spans may carry, and whether the exporter can be reached.

    Exits with 0 if everything that is configured works, else with 1.
    """
    settings = CheckSettings(
        catalogue=catalogue, probe=probe, models=_names(models) or (), json=json
    )
    raise typer.Exit(ended(lambda: check(settings)))


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    """Return the names of a repeated option, those separated by commas too."""
    if not given:
        return None
    return tuple(name for text in given for name in map(str.strip, text.split(",")) if name)

"""Runs as plain text and as files: no JavaScript needed, nothing in them is obeyed or run."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator

from loopspan.playground.bodies import Shape
from loopspan.runs import Run
from loopspan.runs.text.figures import duration, usd
from loopspan.runs.text.lines import Line
from loopspan.runs.text.report import report, report_lines
from loopspan.runs.text.summary import OUTCOMES
from loopspan.runs.text.visible import visible


def list_text(runs: Iterable[Shape]) -> str:
    """Return a line for each run."""
    return "".join(f"{line}\n" for line in _list_lines(runs))


def _list_lines(runs: Iterable[Shape]) -> Iterator[Line]:
    for run in runs:
        words, style = OUTCOMES[run["outcome"]]
        facts = [
            run["run_id"],
            run["configuration"] or "no configuration",
            words,
            f"{run['rounds']} rounds",
            "cost unknown" if run["cost_usd"] is None else usd(run["cost_usd"]),
            duration(run["duration_ms"]),
            run["title"] or "",
        ]
        yield Line(visible("  ".join(facts)).strip(), style, indent=0)


_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }}
body {{ font: 15px/1.5 ui-monospace, monospace; }}
div {{ white-space: pre-wrap; overflow-wrap: anywhere; min-height: 1.5em; }}
.round, .reply, .tool, .good, .warning, .error {{ font-weight: bold; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def as_html(run: Run) -> str:
    """Return a run as a page without any script, everything in it escaped."""
    lines = report_lines(report(run))
    body = "\n".join(f'<div class="{line.style}">{html.escape(str(line))}</div>' for line in lines)
    title = html.escape(visible(f"Run {run.run_id}"))
    return _HTML.format(title=title, body=body)

"""A run whose spans the tests of sources hand out."""

from opentelemetry.sdk.trace import TracerProvider

from loopspan import ToolLoop, tool
from loopspan.runs import Run
from loopspan.testing import ScriptedModel, calls


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"about {word}"


def recorded(provider: TracerProvider, answer: str = "A thing.") -> Run:
    """Make a run of two rounds and four spans."""
    model = ScriptedModel([calls("look_up", word="span"), answer])
    loop = ToolLoop(
        model.model,
        [look_up],
        tracer_provider=provider,
        content="full",
        client=model.client,
    )
    return loop.run("What is a span?").run

"""What each provider supports, found out by asking the adapters; `docs/providers.md` shows it.

`python -m tests.providers.support` writes the page anew.
"""

from collections.abc import Callable
from pathlib import Path

from loopspan import (
    Blob,
    ConfigurationError,
    File,
    Message,
    Parameters,
    Request,
    Text,
    ToolCall,
    ToolCallResponse,
    ToolDefinition,
    UnsupportedContent,
    Uri,
    assistant,
    system,
    user,
)
from loopspan.messages import Part
from loopspan.providers.adapter import Adapter
from loopspan.providers.connect import adapter

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"
PROVIDERS = (
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "groq",
    "mistral",
    "ollama",
    "openrouter",
)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
TOOL = ToolDefinition("look", "Look.", {"type": "object", "properties": {}})


def sends(*parts: Part, **settings: object) -> Callable[[Adapter], bool]:
    """Whether a user message of these parts can be sent, and comes back when it is read again."""

    def ask(found: Adapter) -> bool:
        request = Request("m", (user(Text("Look:"), *parts),))
        try:
            body = found.body(request)
        except UnsupportedContent:
            return False
        [message] = found.request(body, found.url(found.base_url, request)).messages
        return [type(part) for part in message.parts] == [Text, *(type(part) for part in parts)]

    return ask


def chooses(choice: str) -> Callable[[Adapter], bool]:
    """Whether the choice of a tool reaches the wire."""

    def ask(found: Adapter) -> bool:
        plain = Request("m", (user("Hi"),), (TOOL,))
        request = Request("m", (user("Hi"),), (TOOL,), tool_choice=choice)
        try:
            return found.body(request) != found.body(plain)
        except (ConfigurationError, UnsupportedContent):
            return False

    return ask


def takes(**settings: object) -> Callable[[Adapter], bool]:
    """Whether a setting reaches the wire."""

    def ask(found: Adapter) -> bool:
        parameters = Parameters(**settings)  # type: ignore[arg-type]  # one of its fields
        try:
            body = found.body(Request("m", (user("Hi"),), parameters=parameters))
        except (ConfigurationError, UnsupportedContent):
            return False
        return body != found.body(Request("m", (user("Hi"),)))

    return ask


def says_that_a_tool_failed(found: Adapter) -> bool:
    """Whether a failed call is told apart from one that returned the same text."""
    bodies = [found.body(Request("m", dialogue(is_error))) for is_error in (None, True)]
    return bodies[0] != bodies[1]


def dialogue(is_error: bool | None) -> tuple[Message, ...]:
    call = ToolCall("look", {}, "call_1")
    response = ToolCallResponse("Error: no", "call_1", "look", is_error)
    return (user("Hi"), Message("assistant", (call,)), Message("tool", (response,)))


def takes_system_apart(found: Adapter) -> bool:
    """Whether system instructions travel apart from the dialogue."""
    body = found.body(Request("m", (system("Be kind."), user("Hi"))))
    return found.system_apart and "Be kind." not in str(body.get("messages", body.get("contents")))


def goes_on_after_an_answer(found: Adapter) -> bool:
    messages = (user("Hi"), assistant("Hello."), user("Bye"))
    body = found.body(Request("m", messages))
    return (
        found.request(body, found.url(found.base_url, Request("m", messages))).messages == messages
    )


FEATURES: dict[str, Callable[[Adapter], bool]] = {
    "dialogues": goes_on_after_an_answer,
    "system instructions apart": takes_system_apart,
    "images as data": sends(Blob("image", PNG, "image/png")),
    "images by URL": sends(Uri("image", "https://example.com/a.png")),
    "documents as data": sends(Blob("document", "JVBERi0=", "application/pdf")),
    "audio as data": sends(Blob("audio", "UklGRg==", "audio/wav")),
    "uploaded files": sends(File("document", "file_1", "application/pdf")),
    "failed tools are marked": says_that_a_tool_failed,
    "tool choice `required`": chooses("required"),
    "tool choice `none`": chooses("none"),
    "tool choice by name": chooses("look"),
    "`temperature`": takes(temperature=0.5),
    "`top_k`": takes(top_k=5),
    "`seed`": takes(seed=1),
    "`stop_sequences`": takes(stop_sequences=("END",)),
    "`frequency_penalty`": takes(frequency_penalty=0.5),
    "`choice_count`": takes(choice_count=2),
    "`reasoning_level`": takes(reasoning_level="low"),
}


def table() -> str:
    """Return the table of the page."""
    lines = ["| | " + " | ".join(f"`{name}:`" for name in PROVIDERS) + " |"]
    lines.append("|---" * (len(PROVIDERS) + 1) + "|")
    for feature, ask in FEATURES.items():
        marks = ["yes" if ask(adapter(name)) else "–" for name in PROVIDERS]
        lines.append(f"| {feature} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page, with the table made anew."""
    head, mark, rest = PAGE.read_text("utf-8").partition("<!-- table -->\n")
    _, end, tail = rest.partition("<!-- end of table -->")
    return f"{head}{mark}{table()}\n{end}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

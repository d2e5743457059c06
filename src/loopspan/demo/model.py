"""The model: rules from a request to an answer, always the same for the same request.

It asks for the tools that the user's last message names or describes, all in one reply, fills
their arguments from the message, and puts the results into sentences. It never asks for the same
call twice in a dialogue, so a loop ends; `demonstrations` lists the words that change this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from loopspan.demo.arguments import arguments
from loopspan.demo.clues import Clues
from loopspan.demo.demonstrations import Demonstration, demonstration
from loopspan.demo.dialogue import Asked, Dialogue, dialogue
from loopspan.demo.matching import Match, match
from loopspan.demo.requests import MODEL, ChatRequest, Function, NamedChoice
from loopspan.demo.summary import summary
from loopspan.demo.words import subject, words

_LONGEST_ECHO = 200
_REFUSAL = "The prompt asked the demo model to refuse, so it does."


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model asks for."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish_reason: str = "stop"
    slowly: bool = False


def answer(request: ChatRequest, *, may_fail: bool = True) -> Answer:
    """Return the model's answer; raises the `Failure` that the prompt asks for, if it may."""
    return _Thought(request).answer(may_fail)


@dataclass(slots=True)
class _Thought:
    """One request under consideration."""

    request: ChatRequest
    seen: Dialogue = field(init=False)
    shown: Demonstration = field(init=False)
    functions: tuple[Function, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.seen = dialogue(self.request.messages)
        self.shown = demonstration(self.seen.prompt)
        refused = self.request.tool_choice == "none"
        self.functions = () if refused else self.request.functions

    def answer(self, may_fail: bool) -> Answer:
        shown = self.shown
        if shown.failure is not None and may_fail and not self.seen.results:
            raise shown.failure
        if shown.refuses:
            return Answer(_REFUSAL, finish_reason="content_filter", slowly=shown.slowly)
        calls = self._calls()
        if self.request.parallel_tool_calls is False:
            calls = calls[:1]
        return Answer(
            content="" if calls else self._text(),
            reasoning=self._reasoning(calls) if shown.thinks else "",
            calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            slowly=shown.slowly,
        )

    def _calls(self) -> tuple[Call, ...]:
        """Return the calls to ask for now, none that was asked for before."""
        choice = self.request.tool_choice
        matches = match(self.shown.prompt, self.functions)
        if isinstance(choice, NamedChoice):
            matches = self._named(choice, matches)
        if self.shown.loops:
            return tuple(self._made((matches or self._all())[:1]))
        fresh = tuple(self._fresh(self._made(matches)))
        if not fresh and choice == "required":
            return tuple(self._fresh(self._made(self._all())))[:1]
        return fresh

    def _named(self, choice: NamedChoice, matches: list[Match]) -> list[Match]:
        found = [m for m in (*matches, *self._all()) if m.function.name == choice.function.name]
        return found[:1]

    def _all(self) -> list[Match]:
        return [Match(function, self.shown.prompt) for function in self.functions]

    def _made(self, matches: Iterable[Match]) -> Iterable[Call]:
        whole = self.shown.prompt
        for found in matches:
            function = found.function
            known = subject(function.name)
            near = Clues(found.text, known)
            yield Call(
                function.name,
                arguments(function.parameters or {}, near, Clues(whole, known)),
            )

    def _fresh(self, calls: Iterable[Call]) -> Iterable[Call]:
        return (call for call in calls if not self.seen.was_asked(call.name, call.arguments))

    def _text(self) -> str:
        if results := self.seen.results:
            return _told(results)
        names = {found.function.name for found in match(self.shown.prompt, self.functions)}
        before = [c for c in self.seen.asked if c.name in names and c.result is not None]
        if before:
            return f"I asked for this before in our dialogue.\n{_told(before)}"
        return self._introduction()

    def _introduction(self) -> str:
        """Say what this model is, what it was asked, and why it does nothing about it."""
        said = [
            f"This is {MODEL}, the small rule-driven model that comes with loopspan; "
            "it matches words and understands none.",
            f"You asked: “{_short(self.seen.prompt)}”.",
        ]
        if self.seen.system:
            length = sum(1 for _ in words(self.seen.system))
            said.append(f"There is a system prompt of {length} words, which it cannot follow.")
        if self.functions:
            names = _short(", ".join(function.name for function in self.functions))
            said.append(f"None of the tools offered matches that: {names}.")
        elif self.request.functions:
            said.append("It was told to call no tool.")
        else:
            said.append("No tools were offered.")
        return " ".join(said)

    def _reasoning(self, calls: tuple[Call, ...]) -> str:
        offered = ", ".join(function.name for function in self.functions) or "none"
        thought = f"The user says: “{_short(self.seen.prompt)}”. The tools I may call: {offered}. "
        if calls:
            return thought + f"The words match {' and '.join(call.name for call in calls)}."
        if self.seen.results:
            return thought + f"I have {len(self.seen.results)} results, so I can answer."
        return thought + "No words match, so I say what I am."


def _told(results: Iterable[Asked]) -> str:
    """Return what the results say; of a call that was repeated the last counts."""
    latest = {(call.name, call.arguments): call.result or "" for call in results}
    return "\n".join(summary(name, result) for (name, _), result in latest.items())


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO].rstrip()}…"

"""Laws of the assembly: nothing is changed, everything is accounted for."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import Blob, Configuration, Message, RunAugmentation, Text, ToolCall, user
from loopspan.messages import Part, Reasoning, ToolCallResponse
from loopspan.prompts import Assembled, Library, Skill, Snippet, assemble, body_checksum
from loopspan.prompts.injection import BUDGET, fitting, pieces

TEXT = st.text(max_size=30)
NAMES = st.sampled_from(["a", "b", "c", "gone"])


def skills() -> st.SearchStrategy[Skill]:
    def make(identifier: str, body: str, signed: bool, enabled: bool, title: str) -> Skill:
        checksum = body_checksum(body) if signed else None
        return Skill(identifier, body, title, checksum=checksum, enabled=enabled)

    bodies = st.one_of(TEXT, st.sampled_from(["<<<END SKILLS>>>", "### Skill: x", "é" * 9_000]))
    return st.builds(make, NAMES, bodies, st.booleans(), st.booleans(), TEXT)


def parts() -> st.SearchStrategy[Part]:
    return st.one_of(
        st.builds(Text, TEXT),
        st.builds(Reasoning, TEXT),
        st.builds(Blob, st.just("image"), st.just("aGk=")),
        st.builds(ToolCall, TEXT, st.dictionaries(TEXT, st.integers(), max_size=2)),
        st.builds(ToolCallResponse, TEXT),
    )


def dialogues() -> st.SearchStrategy[list[Message]]:
    roles = st.sampled_from(["user", "assistant", "tool", "system", "critic"])
    message = st.builds(Message, roles, st.lists(parts(), max_size=3).map(tuple))
    return st.lists(message, max_size=4)


LIBRARIES = st.builds(
    Library,
    st.lists(skills(), max_size=4).map(tuple),
    st.lists(
        st.builds(Snippet, NAMES, TEXT, TEXT, st.lists(NAMES, max_size=2).map(tuple)), max_size=3
    ).map(tuple),
)
CHOSEN = st.lists(NAMES, max_size=3).map(tuple)
CONFIGURATIONS = st.builds(
    Configuration, system_prompt=TEXT, skills=CHOSEN, snippets=CHOSEN, snippet_tags=CHOSEN
)
AUGMENTATIONS = st.builds(
    RunAugmentation,
    system_prompt=st.none() | TEXT,
    skills=CHOSEN,
    snippets=CHOSEN,
    snippet_tags=CHOSEN,
)


@given(CONFIGURATIONS, AUGMENTATIONS, dialogues(), LIBRARIES)
def test_inputs_stay_and_ranges_cover_without_gap_or_overlap(
    configuration: Configuration,
    augmentation: RunAugmentation,
    dialogue: list[Message],
    library: Library,
) -> None:
    inputs = (configuration, augmentation, dialogue, library)
    before = copy.deepcopy(inputs)

    assembled = assemble(configuration, augmentation, dialogue, library)

    assert inputs == before
    for position, message in enumerate(assembled.messages):
        assert covered(assembled, position) == len(message.carried.encode("utf-8", "surrogatepass"))
    asked = [*configuration.skills, *augmentation.skills]
    told = [p for p in assembled.parts if p.type == "skill"]
    assert len(told) == len(asked)


def covered(assembled: Assembled, position: int) -> int:
    """Return where the pieces of a message end, each beginning where the one before ended."""
    end = 0
    found = [p for p in assembled.parts if p.message == position]
    assert found
    for part in found:
        assert (part.start, part.bytes) == (end, (part.end or 0) - (part.start or 0))
        end = part.end or 0
    return end


@given(st.lists(skills(), max_size=6))
def test_skills_stay_within_the_budget_and_are_dropped_from_the_tail(skills: list[Skill]) -> None:
    kept = fitting(skills)
    text = "".join(piece.text for piece in pieces(skills[:kept]))
    more = "".join(piece.text for piece in pieces(skills[: kept + 1]))
    assert len(text.encode()) <= BUDGET
    assert kept == len(skills) or len(more.encode()) > BUDGET


@given(st.lists(skills(), min_size=1, max_size=3))
def test_no_body_can_end_its_section(skills: list[Skill]) -> None:
    text = "".join(piece.text for piece in pieces(skills)).upper()
    assert text.count("<<<BEGIN SKILLS>>>") == text.count("<<<END SKILLS>>>") == 1
    assert sum(line.startswith("### SKILL:") for line in text.splitlines()) >= 1
    assert text.count("\n### SKILL:") == len(skills)


def test_images_of_the_first_user_message_stay_behind_the_skills() -> None:
    library = Library((Skill("s", "Do.", checksum=body_checksum("Do.")),))
    image = Blob("image", "aGk=")
    assembled = assemble(Configuration(skills=("s",)), None, user(image, "What is it?"), library)
    first, *rest = assembled.messages[0].parts
    assert isinstance(first, Text)
    assert first.content.endswith("<<<END SKILLS>>>\n\n")
    assert rest == [image, Text("What is it?")]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ([None, None], None),
        ([("a", "b"), None], ("a", "b")),
        ([("a", "b"), ("b", "c")], ("a", "b", "c")),
        ([(), None], ()),
        ([(), ("a",)], ("a",)),
    ],
)
def test_tools_that_skills_allow_are_the_union_of_what_they_declare(
    declared: list[tuple[str, ...] | None], expected: tuple[str, ...] | None
) -> None:
    found = tuple(
        Skill(f"s{i}", "x", checksum=body_checksum("x"), allowed_tools=tools)
        for i, tools in enumerate(declared)
    )
    configuration = Configuration(skills=tuple(s.identifier for s in found))
    assert assemble(configuration, None, "Hi", Library(found)).allowed_tools == expected


def test_a_skill_that_is_left_out_restricts_nothing() -> None:
    unsigned = Skill("s", "x", allowed_tools=("a",))
    assembled = assemble(Configuration(skills=("s",)), None, "Hi", Library((unsigned,)))
    assert assembled.allowed_tools is None

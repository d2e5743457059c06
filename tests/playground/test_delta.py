"""What changed between two requests: exact for any two lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan.playground.delta import (
    Compared,
    Item,
    changed_parameters,
    changed_tools,
    compare,
)

items = st.builds(
    Item,
    st.sampled_from("abcdef"),
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.none() | st.sampled_from(["call_1", "call_2"]),
)


def consistent(found: list[Item]) -> list[Item]:
    first: dict[str, Item] = {}
    return [first.setdefault(each.h, each) for each in found]


lists = st.lists(items, max_size=9)


@given(lists, lists)
def test_each_position_is_named_once_and_the_new_list_comes_out(
    old: list[Item], new: list[Item]
) -> None:
    both = consistent([*old, *new])
    a, b = both[: len(old)], both[len(old) :]
    found = compare(a, b)
    kept = [j for start, end in found.keep for j in range(start, end)]
    edited = [j for _, j in found.edit]
    assert sorted([*kept, *edited, *found.add]) == list(range(len(b)))
    gone = [*found.drop, *(i for i, _ in found.edit)]
    assert len(set(gone)) == len(gone)
    left = sorted(set(range(len(a))) - set(gone))
    assert sorted(a[i].h for i in left) == sorted(b[j].h for j in kept)
    assert all(a[i].h != b[j].h and a[i].role == b[j].role for i, j in found.edit)
    assert a[: found.prefix] == b[: found.prefix]
    assert a[found.prefix : found.prefix + 1] != b[found.prefix : found.prefix + 1] or (
        found.prefix == len(a) == len(b)
    )


@given(lists, lists, lists)
def test_lists_with_a_common_beginning_are_compared_behind_it(
    head: list[Item], old: list[Item], new: list[Item]
) -> None:
    both = consistent([*head, *old, *new])
    first, end = both[: len(head)], len(head) + len(old)
    a, b = both[len(head) : end], both[end:]
    assert compare(a, b).moved(len(head)) == compare([*first, *a], [*first, *b])


def item(h: str, role: str = "user", call: str | None = None) -> Item:
    return Item(h, role, call)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param([], [item("x")], Compared(add=[0]), id="round-1"),
        pytest.param(
            [item("x")],
            [item("x"), item("y")],
            Compared(keep=[(0, 1)], add=[1], prefix=1),
            id="add",
        ),
        pytest.param(
            [item("x"), item("y"), item("z")],
            [item("x"), item("z")],
            Compared(keep=[(0, 2)], drop=[1], prefix=1),
            id="drop",
        ),
        pytest.param(
            [item("x"), item("y"), item("z")],
            [item("x"), item("Y"), item("z")],
            Compared(keep=[(0, 1), (2, 3)], edit=[(1, 1)], prefix=1),
            id="edit",
        ),
        pytest.param(
            [item("1", "tool", "c1"), item("2", "tool", "c2")],
            [item("3", "tool", "c2"), item("4", "tool", "c1")],
            Compared(edit=[(1, 0), (0, 1)]),
            id="by-call-id",
        ),
        pytest.param(
            [item("1", "user"), item("2", "assistant")],
            [item("3", "assistant"), item("4", "user")],
            Compared(edit=[(1, 0), (0, 1)]),
            id="by-role",
        ),
    ],
)
def test_change(a: list[Item], b: list[Item], expected: Compared) -> None:
    assert compare(a, b) == expected


def test_changed_tools_and_parameters() -> None:
    old = [{"name": "a", "h": "1"}, {"name": "b", "h": "2"}]
    new = [{"name": "b", "h": "3"}, {"name": "c", "h": "4"}]
    assert changed_tools(old, new) == {"add": ["c"], "drop": ["a"], "changed": ["b"]}
    changed = changed_parameters({"temperature": 1, "seed": 2}, {"seed": 2, "top_p": 0.5})
    assert changed == {"temperature": [1, None], "top_p": [None, 0.5]}

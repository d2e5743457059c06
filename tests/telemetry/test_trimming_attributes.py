"""Attributes and events whose texts are cut, and the words that say so."""

import json

import pytest

from loopspan.telemetry import semconv as names
from loopspan.telemetry import trimming
from loopspan.telemetry.trimming import fitted, fitted_event, truncated_text


def test_attributes_that_fit_are_the_same_object() -> None:
    attributes = {"a": "x", "b": 1, "c": ("y", "z")}
    cuts: trimming.Cuts = {}
    assert fitted(attributes, 100, cuts) is attributes
    assert cuts == {}


def test_attributes_lose_only_what_is_too_long() -> None:
    cuts: trimming.Cuts = {}
    attributes = {"a": "x" * 200, "b": None, "c": ("y" * 300, "z"), "d": (1, 2), "e": "é" * 9}
    left = fitted(attributes, 100, cuts)
    assert left == {
        "a": "x" * 68 + "… [cut: 68 of 200 bytes kept]",
        "b": None,
        "c": ["y" * 60 + "… [cut: 60 of 300 bytes kept]", "z"],
        "d": (1, 2),
        "e": "é" * 9,
    }
    assert cuts == {"a": (200, 99), "c": (308, 99)}


def test_what_was_cut_is_merged_with_what_was_cut_before() -> None:
    told = truncated_text(
        '{"result":{"from":9,"to":5},"a":{"from":900,"to":80}}', {"a": (80, 40), "b": (7, 0)}
    )
    assert json.loads(told) == {
        "result": {"from": 9, "to": 5},
        "a": {"from": 900, "to": 40},
        "b": {"from": 7, "to": 0},
    }


@pytest.mark.parametrize("told", [None, 5, "no JSON", "[1]", '{"a":3}'])
def test_odd_earlier_words_do_no_harm(told: object) -> None:
    assert json.loads(truncated_text(told, {"a": (2, 1)}))["a"] == {"from": 2, "to": 1}


def test_the_words_about_cuts_are_not_cut_themselves() -> None:
    cuts: trimming.Cuts = {}
    attributes = {names.TRUNCATED: truncated_text(None, {"a" * 99: (5, 4)})}
    assert fitted(attributes, 50, cuts) is attributes


def test_what_events_of_one_name_lose_is_added_up() -> None:
    cuts: trimming.Cuts = {}
    for size in (200, 300):
        fitted_event("exception", {"exception.message": "x" * size}, 100, cuts)
    assert cuts == {"exception.message": (500, 99 + 99)}

"""`loopspan check --probe`: tiny requests."""

import httpx
import pytest

from loopspan.cli import main
from loopspan.providers.connect import adapter
from tests.cli.checking import KEY, Out, ollama, report
from tests.cli.command import scripted


def test_a_probe_asks_the_smallest_model_of_ollama(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [
        {"name": "large:70b", "size": 70},
        {"name": "small:1b", "size": 3, "details": {"family": "llama"}},
        {"name": "embedder", "size": 1, "details": {"family": "nomic-bert"}},
    ]
    with ollama(*models) as (url, received):
        monkeypatch.setenv("OLLAMA_HOST", url)
        code, found = report(capsys, "--probe")
    assert code == 0
    assert found["providers"]["ollama"]["probe"].endswith(" (ollama:small:1b)")
    [request] = received
    assert request["model"] == "small:1b"
    assert request["options"] == {"num_predict": 16}
    assert "tools" not in request


def test_an_ollama_without_models_says_how_to_get_one(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ollama() as (url, _):
        monkeypatch.setenv("OLLAMA_HOST", url)
        code, found = report(capsys, "--probe")
    assert code == 1
    assert "ollama pull" in found["providers"]["ollama"]["problem"]


def test_a_probe_asks_those_with_a_key_once(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    refusal = httpx.Response(500, json={"error": {"message": f"overloaded {KEY}"}})
    with scripted(refusal) as (model, to_it):
        monkeypatch.setattr(type(adapter("groq")), "base_url", to_it[-1])
        code, found = report(capsys, "--probe")
    assert code == 1
    assert len(model.requests) == 1
    said = found["providers"]["groq"]["problem"]
    assert said.startswith("groq answered 500")
    assert KEY not in said
    assert [n for n, p in found["providers"].items() if p["probe"]] == ["demo"]


def test_a_probe_of_a_named_model(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    with scripted("ok") as (model, to_it):
        monkeypatch.setattr(type(adapter("groq")), "base_url", to_it[-1])
        code, found = report(capsys, "--probe", "--model", "groq:mine")
    assert code == 0
    assert model.requests[0]["model"] == "mine"
    assert found["providers"]["groq"]["probe"].startswith("ok after ")


def test_a_named_model_without_a_key_is_a_problem(capsys: Out) -> None:
    code, found = report(capsys, "--model", "groq:mine")
    assert code == 1
    assert "set GROQ_API_KEY" in found["providers"]["groq"]["problem"]


@pytest.mark.parametrize("model", ["groq", "acme:one"])
def test_a_model_that_is_none_is_wrong_usage(capsys: Out, model: str) -> None:
    assert main(["check", "--probe", "--model", model]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")

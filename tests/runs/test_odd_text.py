"""Whatever models and tools write, spans can be exported and runs can be shown."""

import json
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from loopspan import Configuration, LoopspanError, RunResult, ToolOptions, tool
from loopspan.runs import read_runs
from loopspan.runs.otlp import spans
from loopspan.testing import Answer, ScriptedModel, capture, message
from tests.loop.ways import loop_of

ODD = "odd \ud800"
MENDED = "odd \ufffd"


class Speechless(Exception):
    """An exception that cannot tell itself."""

    def __str__(self) -> str:
        raise RuntimeError


@tool
def fail() -> None:
    """Fail."""
    raise ValueError(ODD)


@tool
def fail_silently() -> None:
    """Fail without a word."""
    raise Speechless


@tool
def give() -> dict[str, str]:
    """Give something odd."""
    return {ODD: ODD}


def whole(**fields: Any) -> Answer:
    """An answer with these fields in its body, written as servers write them."""
    choice = {"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}
    content = json.dumps({"choices": [choice], **fields}).encode()
    return lambda _: httpx.Response(200, content=content)


def asking(name: str, id: str | None = "call_1", arguments: Any = "{}") -> Answer:
    return message(tool_calls=[(name, arguments, id)])


def refusing(body: Any) -> httpx.Response:
    error = {"message": ODD, "code": ODD}
    return httpx.Response(400, content=json.dumps({"error": error}).encode())


ODD_ANSWERS: dict[str, Answer] = {
    "text": ODD,
    "tool": asking(ODD),
    "id": asking("give", ODD),
    "arguments": asking("give", arguments=ODD),
    "argument": asking("give", arguments=json.dumps({ODD: ODD})),
    "nan": asking("give", arguments='{"a": NaN, "b": Infinity, "c": 1e999}'),
    "result": asking("give"),
    "exception": asking("fail"),
    "speechless": asking("fail_silently"),
    "error": refusing,
    "response-id": whole(id=ODD),
    "response-model": whole(model=ODD),
    "finish-reason": message("Hi.", finish_reason=ODD),
    "tokens": whole(usage={"prompt_tokens": 2**80, "completion_tokens": 2**63}),
    "cost-nan": whole(usage={"cost": float("nan")}),
    "cost-infinite": whole(usage={"cost": float("inf")}),
}


def made(answer: Answer, **settings: Any) -> RunResult:
    loop = loop_of(ScriptedModel([answer, "Done."]), [fail, fail_silently, give], **settings)
    options = ToolOptions(user_id=ODD, metadata={"team": ODD}).with_capture_raw()
    try:
        return loop.run(ODD, options=options)
    except LoopspanError as error:
        result: RunResult = error.result
        return result


@pytest.mark.parametrize("content", ["off", "metadata", "full"])
@pytest.mark.parametrize("answer", ODD_ANSWERS.values(), ids=ODD_ANSWERS)
def test_odd_values_reach_every_reader(
    answer: Answer, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    configuration = Configuration(name=ODD, description=ODD, system_prompt=ODD)
    with capture() as captured:
        result = made(answer, captured=captured, content=content, configuration=configuration)

    sent = MessageToDict(encode_spans(captured.spans))
    assert read_runs(spans(sent)) == (result.run,)
    assert captured.run_trace.runs() == (result.run,)
    assert MENDED in result.run.model_dump_json()
    assert [r for r in caplog.records if r.name.startswith("opentelemetry")] == []

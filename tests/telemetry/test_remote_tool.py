"""A tool that lives behind a server of the Model Context Protocol tells no more than any other."""

import json
import logging
from typing import Any

import httpx
import pytest
from opentelemetry import propagate
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from loopspan import ToolOptions, tool
from loopspan.runs import ToolStep
from loopspan.testing import ScriptedModel, calls, capture
from tests.loop.ways import Way, each_way, loop_of

ASKED, TOLD = "Zebrafinch", "Quokka"


def server(result: dict[str, Any], got: list[httpx.Request]) -> httpx.Client:
    """A client of a server that answers each `tools/call` with this result or error."""

    def answer(request: httpx.Request) -> httpx.Response:
        got.append(request)
        body = json.loads(request.content)
        assert body["method"] == "tools/call"
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": body["id"], **result})

    return httpx.Client(transport=httpx.MockTransport(answer))


def said(text: str, is_error: bool) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}


RESULTS = {
    "ok": said(TOLD, False),
    "returned_error": said(TOLD, True),
    "error": {"error": {"code": -32602, "message": f"no {TOLD}"}},
}


@each_way
@pytest.mark.parametrize("outcome", RESULTS)
def test_pr02_without_content_nothing_of_it_leaves(
    way: Way, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[httpx.Request] = []
    client = server(RESULTS[outcome], got)

    @tool
    def remote(query: str) -> dict[str, Any]:
        """Ask a server."""
        headers = {"mcp-session-id": "s1"}
        propagate.inject(headers)
        call = {"name": "remote", "arguments": {"query": query}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = client.post("http://mcp.invalid/mcp", json=body, headers=headers).json()
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result

    model = ScriptedModel([calls("remote", query=ASKED), "Done."])
    with capture() as captured, caplog.at_level(logging.DEBUG, "loopspan"):
        result = way(loop_of(model, [remote], captured), options=ToolOptions(user_id="ann"))

    [request] = got
    assert ASKED in request.content.decode()
    spans = "".join(span.to_json() for span in captured.spans)
    exported = encode_spans(captured.spans).SerializeToString().decode("utf-8", "replace")
    shown = result.run.model_dump_json() + caplog.text + str(request.headers.raw)
    for word in (ASKED, TOLD):
        assert word not in spans + exported + shown
    [step] = [step for step in result.run.steps if isinstance(step, ToolStep)]
    assert step.is_error is (outcome != "ok")
    [tool_span] = [span for span in captured.spans if span.name == "execute_tool remote"]
    context = tool_span.get_span_context()
    assert context is not None
    # The server can hang its own spans under the call.
    assert request.headers["traceparent"].split("-")[2] == f"{context.span_id:016x}"

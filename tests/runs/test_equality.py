"""The run that `run()` returns, the one that `RunTrace` gathers and the one read back are one."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from loopspan.runs import ChatStep, RequestStep, Run, ToolStep, read_runs
from loopspan.runs.otlp import spans
from loopspan.testing import Captured, capture
from tests.runs.generated import Case, cases, made


def read_back(captured: Captured) -> tuple[Run, ...]:
    return read_runs(spans(MessageToDict(encode_spans(captured.spans))))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_a_run_is_the_same_wherever_it_is_read(case: Case) -> None:
    with capture() as captured:
        result = made(case, captured)

    assert result.run == captured.run_trace.run(result.run_id)
    assert read_back(captured) == (result.run,)
    assert Run.model_validate_json(result.run.model_dump_json()) == result.run


def total(steps: list[ChatStep], name: str) -> Any:
    known = [value for step in steps if (value := getattr(step.usage, name)) is not None]
    return sum(known) if known else None


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases)
def test_totals_are_the_sums_of_the_steps(case: Case) -> None:
    with capture() as captured:
        result = made(case, captured)

    run = result.run
    chats = [step for step in run.steps if isinstance(step, ChatStep)]
    assert run.rounds == len(chats) == len([s for s in run.steps if isinstance(s, RequestStep)])
    assert run.tool_calls == len([s for s in run.steps if isinstance(s, ToolStep)])
    for name in ("input_tokens", "output_tokens", "cache_read_input_tokens"):
        assert getattr(run.usage, name) == total(chats, name)
    assert run.usage.reasoning_output_tokens == total(chats, "reasoning_output_tokens")
    costs = [step.cost_usd for step in chats]
    known = [cost for cost in costs if cost is not None]
    assert run.cost_usd == (sum(known) if costs and len(known) == len(costs) else None)
    assert (result.rounds, result.tool_calls) == (run.rounds, run.tool_calls)
    assert (result.outcome, result.cost_usd) == (run.outcome, run.cost_usd)

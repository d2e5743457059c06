"""Run in a Python that has an instrumentation: `emit.py KIND URL plain|streamed`; prints OTLP JSON.

It asks the server at `URL` a question with a tool, in two rounds, within one span.
"""

import asyncio
import sys
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from loopspan.runs import RunTrace
from loopspan.runs.export import as_otlp_json

TOOL = {
    "name": "get_weather",
    "description": "The weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def instrument(kind: str, provider: TracerProvider) -> None:
    match kind:
        case "official":
            from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
        case "openinference":
            from openinference.instrumentation.openai import OpenAIInstrumentor
        case _:
            from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    OpenAIInstrumentor().instrument(tracer_provider=provider)


def ask(client: Any, messages: list[Any], streamed: bool) -> dict[str, Any]:
    told = {"model": "gpt-4o", "messages": messages, "temperature": 0.5}
    told["tools"] = [{"type": "function", "function": TOOL}]
    if not streamed:
        message = client.chat.completions.create(**told).choices[0].message
        said: dict[str, Any] = message.model_dump(exclude_none=True)
        return said
    text, calls = "", []
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(**told, stream=True, stream_options=options):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            calls += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
    return {
        "role": "assistant",
        "content": text or None,
        **({"tool_calls": calls} if calls else {}),
    }


def loop(provider: TracerProvider, url: str, streamed: bool) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="made-up")
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Oslo?"},
    ]
    with provider.get_tracer("app").start_as_current_span("question"):
        while calls := (said := ask(client, messages, streamed)).get("tool_calls"):
            messages.append(said)
            answer = {"role": "tool", "content": "rain"}
            messages += [{**answer, "tool_call_id": call["id"]} for call in calls]


def agent(provider: TracerProvider, url: str, streamed: bool, content: bool) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="made-up"))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=content))
    settings = {"temperature": 0.5}
    weather = Agent(model, name="weather", system_prompt="Be brief.", model_settings=settings)

    def get_weather(city: str) -> str:
        return "rain"

    weather.tool_plain(get_weather)

    async def stream() -> None:
        async with weather.run_stream("Weather in Oslo?") as result:
            await result.get_output()

    if streamed:
        asyncio.run(stream())
    else:
        weather.run_sync("Weather in Oslo?")


def main(kind: str, url: str, way: str, content: str) -> None:
    run_trace = RunTrace()
    provider = TracerProvider()
    provider.add_span_processor(run_trace)
    if kind == "pydantic-ai":
        agent(provider, url, way == "streamed", content == "content")
    else:
        instrument(kind, provider)
        loop(provider, url, way == "streamed")
    ids = run_trace.run_ids()
    sys.stdout.buffer.write(as_otlp_json(s for run_id in ids for s in run_trace.spans(run_id)))


if __name__ == "__main__":
    main(*sys.argv[1:])

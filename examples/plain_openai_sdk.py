"""A question with a tool, by OpenAI's own SDK: no tracing in sight.

`OPENAI_BASE_URL` and `OPENAI_API_KEY` say whom to ask. Its runs are seen with

    LOOPSPAN_SHOW=1 opentelemetry-instrument python examples/plain_openai_sdk.py
"""

import json

from openai import OpenAI

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


def get_weather(city: str) -> str:
    return f"rain in {city}"


def main() -> None:
    client = OpenAI()
    messages = [{"role": "user", "content": "Do I need an umbrella in Oslo?"}]
    while True:
        completion = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
        message = completion.choices[0].message
        if not message.tool_calls:
            print(message.content)
            return
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    main()

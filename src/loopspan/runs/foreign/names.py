"""What other instrumentations and older conventions call things, the preferred name first.

Sources: OpenInference's semantic conventions, OpenLLMetry (`traceloop`), Langfuse's attribute
mapping, Logfire and pydantic-ai, Vercel's AI SDK, OpenLIT, and OpenTelemetry's own before 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopspan.telemetry import semconv as names

ALIASES: Mapping[str, tuple[str, ...]] = {
    names.PROVIDER_NAME: ("gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"),
    names.REQUEST_MODEL: (
        "llm.request.model_name",
        "llm.model_name",
        "langfuse.observation.model.name",
        "ai.model.id",
        "embedding.model_name",
    ),
    names.RESPONSE_MODEL: ("llm.response.model_name", "ai.response.model"),
    names.RESPONSE_ID: ("ai.response.id",),
    names.RESPONSE_FINISH_REASONS: (
        "llm.finish_reason",
        "gen_ai.response.finish_reason",
        "gen_ai.response.stop_reason",
        "llm.response.finish_reason",
        "llm.response.stop_reason",
        "ai.response.finishReason",
        "gen_ai.finishReason",
    ),
    names.REQUEST_STREAM: ("gen_ai.is_streaming", "llm.is_streaming"),
    names.REQUEST_TEMPERATURE: ("ai.settings.temperature",),
    names.REQUEST_TOP_P: ("ai.settings.topP",),
    names.REQUEST_TOP_K: ("llm.top_k", "ai.settings.topK"),
    names.REQUEST_MAX_TOKENS: (
        "gen_ai.request.max_completion_tokens",
        "ai.settings.maxOutputTokens",
        "ai.settings.maxTokens",
    ),
    names.REQUEST_FREQUENCY_PENALTY: ("llm.frequency_penalty", "ai.settings.frequencyPenalty"),
    names.REQUEST_PRESENCE_PENALTY: ("llm.presence_penalty", "ai.settings.presencePenalty"),
    names.REQUEST_STOP_SEQUENCES: ("llm.chat.stop_sequences", "ai.settings.stopSequences"),
    names.REQUEST_SEED: ("ai.settings.seed",),
    names.REQUEST_CHOICE_COUNT: ("gen_ai.request.n",),
    names.REQUEST_REASONING_LEVEL: (
        "gen_ai.request.reasoning_effort",
        "llm.request.reasoning_effort",
    ),
    names.RESPONSE_TIME_TO_FIRST_CHUNK: ("gen_ai.client.operation.time_to_first_chunk",),
    names.USAGE_INPUT_TOKENS: (
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
        "ai.usage.inputTokens",
        "ai.usage.promptTokens",
    ),
    names.USAGE_OUTPUT_TOKENS: (
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
        "ai.usage.outputTokens",
        "ai.usage.completionTokens",
    ),
    names.USAGE_CACHE_READ: (
        "llm.token_count.prompt_details.cache_read",
        "llm.token_count.prompt_details.cache_input",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.prompt_tokens_details.cached_tokens",
        "ai.usage.inputTokenDetails.cacheReadTokens",
        "ai.usage.cachedInputTokens",
    ),
    names.USAGE_CACHE_WRITE: (
        "gen_ai.usage.cache_creation.input_tokens",
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_creation_input_tokens",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
    ),
    names.USAGE_REASONING: (
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.reasoning_tokens",
        "llm.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "ai.usage.outputTokenDetails.reasoningTokens",
        "ai.usage.reasoningTokens",
    ),
    names.COST_USD: ("llm.cost.total", "operation.cost", "gen_ai.usage.cost"),
    names.AGENT_NAME: ("agent.name", "agent_name"),
    names.TOOL_NAME: ("tool.name", "ai.toolCall.name"),
    names.TOOL_DESCRIPTION: ("tool.description",),
    names.TOOL_CALL_ID: ("tool.id", "ai.toolCall.id"),
    names.TOOL_CALL_ARGUMENTS: (
        "tool_arguments",
        "ai.toolCall.args",
        "gen_ai.tool.args",
        "gen_ai.tool.input",
        "tool.parameters",
    ),
    names.TOOL_CALL_RESULT: ("tool_response", "ai.toolCall.result", "gen_ai.tool.output"),
    names.CONVERSATION_ID: (
        "session.id",
        "langfuse.session.id",
        "ai.telemetry.metadata.sessionId",
    ),
}
"""The current name of an attribute, and its other names."""

KINDS: Mapping[str, Mapping[str, str]] = {
    "openinference.span.kind": {
        "LLM": names.CHAT,
        "TOOL": names.EXECUTE_TOOL,
        "AGENT": names.INVOKE_AGENT,
    },
    "traceloop.span.kind": {"tool": names.EXECUTE_TOOL, "agent": names.INVOKE_AGENT},
    "llm.request.type": {"chat": names.CHAT, "completion": names.CHAT},
    "langfuse.observation.type": {
        "generation": names.CHAT,
        "tool": names.EXECUTE_TOOL,
        "agent": names.INVOKE_AGENT,
    },
    "ai.operationId": {
        "ai.generateText.doGenerate": names.CHAT,
        "ai.streamText.doStream": names.CHAT,
        "ai.generateObject.doGenerate": names.CHAT,
        "ai.streamObject.doStream": names.CHAT,
        "ai.toolCall": names.EXECUTE_TOOL,
        "ai.generateText": names.INVOKE_AGENT,
        "ai.streamText": names.INVOKE_AGENT,
        "ai.generateObject": names.INVOKE_AGENT,
        "ai.streamObject": names.INVOKE_AGENT,
    },
}
"""Attributes that say what a span is, and the operation that their values mean."""

OPERATIONS: Mapping[str, str] = {
    "generate_content": names.CHAT,
    "text_completion": names.CHAT,
    "agent_step": "",
}
"""Operations of the conventions that the reader takes for another; empty for none."""

PROVIDERS: Mapping[str, str] = {
    "amazon": "aws.bedrock",
    "aws": "aws.bedrock",
    "az.ai.inference": "azure.ai.inference",
    "az.ai.openai": "azure.ai.openai",
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "google": "gcp.gen_ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "moonshot": "moonshot_ai",
    "together": "together_ai",
    "vertex_ai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "xai": "x_ai",
}

REASONS: Mapping[str, str] = {
    "completed": "stop",
    "content-filter": "content_filter",
    "end_turn": "stop",
    "function_call": "tool_call",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "safety": "content_filter",
    "stop_sequence": "stop",
    "tool-calls": "tool_call",
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
}
"""Finish reasons of providers, in small letters, and the conventions' word for them."""

HIDDEN = "__REDACTED__"
"""What OpenInference writes in place of what it was told to hide."""

MARKERS = frozenset(
    {names.OPERATION_NAME, names.PROVIDER_NAME, names.REQUEST_MODEL, "gen_ai.system", *KINDS}
)
"""Names of which a span of a generative AI has at least one, whoever made it."""

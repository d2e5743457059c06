"""All names that loopspan writes or reads, in one place.

Source: `open-telemetry/semantic-conventions-genai`, `model/gen-ai/spans.yaml` at commit
024a4f944a12 (main of October 2026; nothing of it is released). Names under `loopspan.` are ours:
the conventions have none for cost, run, round, outcome and provenance.
"""

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"

# Operations
CHAT = "chat"
INVOKE_AGENT = "invoke_agent"
EXECUTE_TOOL = "execute_tool"

# Conventions: what and where
OPERATION_NAME = "gen_ai.operation.name"
PROVIDER_NAME = "gen_ai.provider.name"
SYSTEM = "gen_ai.system"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
ERROR_TYPE = "error.type"
CONVERSATION_ID = "gen_ai.conversation.id"
SESSION_ID = "session.id"
USER_ID = "user.id"
AGENT_NAME = "gen_ai.agent.name"
AGENT_DESCRIPTION = "gen_ai.agent.description"

# Conventions: request
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_TOP_P = "gen_ai.request.top_p"
REQUEST_TOP_K = "gen_ai.request.top_k"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_STOP_SEQUENCES = "gen_ai.request.stop_sequences"
REQUEST_SEED = "gen_ai.request.seed"
REQUEST_FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty"
REQUEST_PRESENCE_PENALTY = "gen_ai.request.presence_penalty"
REQUEST_CHOICE_COUNT = "gen_ai.request.choice.count"
REQUEST_REASONING_LEVEL = "gen_ai.request.reasoning.level"
REQUEST_PREFIX = "gen_ai.request."

# Conventions: response
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons"
RESPONSE_TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
USAGE_CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
USAGE_CACHE_WRITE = "gen_ai.usage.cache_write.input_tokens"
USAGE_CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens"
USAGE_REASONING = "gen_ai.usage.reasoning.output_tokens"

# Conventions: content
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_DEFINITIONS = "gen_ai.tool.definitions"

# Conventions: tools
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT = "gen_ai.tool.call.result"

# Metrics of the conventions (`model/gen-ai/metrics.yaml`) and the labels that only they have
INFERENCE_DURATION = "gen_ai.client.inference.duration"
INFERENCE_TIME_TO_FIRST_CHUNK = "gen_ai.client.inference.time_to_first_chunk"
INFERENCE_TIME_PER_OUTPUT_CHUNK = "gen_ai.client.inference.time_per_output_chunk"
INFERENCE_INPUT_TOKENS = "gen_ai.client.inference.usage.input_tokens"
INFERENCE_OUTPUT_TOKENS = "gen_ai.client.inference.usage.output_tokens"
INFERENCE_CACHE_READ = "gen_ai.client.inference.usage.cache_read.input_tokens"
INFERENCE_CACHE_WRITE = "gen_ai.client.inference.usage.cache_write.input_tokens"
INFERENCE_REASONING = "gen_ai.client.inference.usage.reasoning.output_tokens"
OPERATION_INPUT_TOKENS = "gen_ai.client.inference.operation.input_tokens"
OPERATION_OUTPUT_TOKENS = "gen_ai.client.inference.operation.output_tokens"
AGENT_DURATION = "gen_ai.invoke_agent.duration"
AGENT_INFERENCE_CALLS = "gen_ai.invoke_agent.inference_calls"
AGENT_TOOL_CALLS = "gen_ai.invoke_agent.tool_calls"
TOOL_DURATION = "gen_ai.execute_tool.duration"
TOKEN_MODALITY = "gen_ai.token.modality"

# What these were before August 2026, under `compat`
OLD_DURATION = "gen_ai.client.operation.duration"
OLD_TIME_TO_FIRST_CHUNK = "gen_ai.client.operation.time_to_first_chunk"
OLD_TIME_PER_OUTPUT_CHUNK = "gen_ai.client.operation.time_per_output_chunk"
OLD_TOKEN_USAGE = "gen_ai.client.token.usage"
TOKEN_TYPE = "gen_ai.token.type"

# Metrics of ours; the cost has the name of its attribute
RUNS = "loopspan.runs"
CHAT_FINISH_REASONS = "loopspan.chat.finish_reasons"
FINISH_REASON = "gen_ai.response.finish_reason"
CHAT_RETRIES = "loopspan.chat.retries"
COST_UNKNOWN = "loopspan.cost.unknown"
RECORDER_DROPPED = "loopspan.recorder.dropped"
"""Runs, by `reason`."""
EXPORT_DROPPED = "loopspan.export.dropped"
"""Spans, by `reason`."""
DROP_REASON = "reason"

# Exceptions (conventions, docs/exceptions)
EXCEPTION_EVENT = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
EXCEPTION_STACKTRACE = "exception.stacktrace"

# Ours
RUN_ID = "loopspan.run.id"
OUTCOME = "loopspan.outcome"
ROUNDS = "loopspan.rounds"
MAX_ROUNDS = "loopspan.max_rounds"
TOOL_CALLS = "loopspan.tool_calls"
RUN_INPUT_TOKENS = "loopspan.usage.input_tokens"
RUN_OUTPUT_TOKENS = "loopspan.usage.output_tokens"
PROMPT_PARTS = "loopspan.prompt.parts"
ROUND = "loopspan.round"
INPUT_OFFSET = "loopspan.input.offset"
TOOLS_ROUND = "loopspan.tools.round"
COST_USD = "loopspan.cost.usd"
COST_SOURCE = "loopspan.cost.source"
COST_MISSING = "loopspan.cost.missing"
FINISH_REASON_RAW = "loopspan.response.finish_reason.raw"
TOOL_OUTCOME = "loopspan.tool.outcome"
TOOL_REFUSED_BY = "loopspan.tool.refused_by"
TRUNCATED = "loopspan.truncated"
METADATA_PREFIX = "loopspan.metadata."
RESULT_OF = "loopspan.result_of"
LEFT_OUT = "loopspan.left_out"
NOT_RECORDED = "loopspan.not_recorded"
REQUEST_BODY = "loopspan.request.body"
REQUEST_PARAMETERS = "loopspan.request.parameters"
CONTENT = "loopspan.content"
CONTEXT_TOKENS = "loopspan.context.estimated_tokens"
CONTEXT_CALIBRATED = "loopspan.context.calibrated"
CONTEXT_WINDOW = "loopspan.context.window"
CONTEXT_WINDOW_SOURCE = "loopspan.context.window.source"

RETRY_EVENT = "loopspan.retry"
RETRY_STATUS = "loopspan.retry.status"
RETRY_DELAY = "loopspan.retry.delay"
RETRY_ATTEMPT = "loopspan.retry.attempt"
RAW_REQUEST_EVENT = "loopspan.raw.request"
RAW_RESPONSE_EVENT = "loopspan.raw.response"
RAW_BODY = "loopspan.raw.body"
RAW_PART = "loopspan.raw.part"
RAW_PARTS = "loopspan.raw.parts"

CONTENT_KEY = "loopspan.content.key"
"""Under which key a store has the content of the span."""
CONTENT_EVENT = "loopspan.content"
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
"""The event of the conventions that holds what a model was sent and what it answered."""

CONTENT_ATTRIBUTES = frozenset(
    {
        SYSTEM_INSTRUCTIONS,
        INPUT_MESSAGES,
        OUTPUT_MESSAGES,
        TOOL_DEFINITIONS,
        TOOL_DESCRIPTION,
        TOOL_CALL_ARGUMENTS,
        TOOL_CALL_RESULT,
        REQUEST_BODY,
        REQUEST_PARAMETERS,
    }
)
"""Attributes that hold what people, models and tools wrote; absent unless content is asked for."""

"""The Collector's files: what passes the stripped pipeline, and that both files say the same."""

from pathlib import Path
from typing import Any

import yaml

from loopspan.telemetry import semconv

COLLECTOR = Path(__file__).parents[2] / "collector"

NOT_FACTS = {
    # content, or what may hold some
    *semconv.CONTENT_ATTRIBUTES,
    semconv.AGENT_DESCRIPTION,
    semconv.EXCEPTION_MESSAGE,
    semconv.EXCEPTION_STACKTRACE,
    semconv.RAW_BODY,
    semconv.REQUEST_STOP_SEQUENCES,
    # people
    semconv.USER_ID,
    # belongs to content that is gone
    semconv.RAW_PART,
    semconv.RAW_PARTS,
    semconv.CONTENT_KEY,
}
"""Attributes that must not be in the stripped copy."""

NOT_ATTRIBUTES = {
    # parts of JSON, prefixes, names of events
    *(semconv.RESULT_OF, semconv.LEFT_OUT, semconv.NOT_RECORDED),
    *(semconv.METADATA_PREFIX, semconv.REQUEST_PREFIX),
    *(semconv.RETRY_EVENT, semconv.RAW_REQUEST_EVENT, semconv.RAW_RESPONSE_EVENT),
    semconv.DETAILS_EVENT,
    # labels of metrics
    *(semconv.TOKEN_MODALITY, semconv.TOKEN_TYPE, semconv.FINISH_REASON),
}


def loaded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((COLLECTOR / name).read_text("utf-8"))
    return found


def allowed() -> set[str]:
    return set(
        loaded("config.yaml")["processors"]["redaction/known_attributes_only"]["allowed_keys"]
    )


def metrics() -> set[str]:
    """Names of metrics, but for the cost, which is an attribute too."""
    from dashboards.generate.promql import METRICS

    return set(METRICS) - {semconv.COST_USD}


def attributes() -> set[str]:
    """All names of attributes in the semconv module."""
    dotted = {
        v for k, v in vars(semconv).items() if k.isupper() and isinstance(v, str) and "." in v
    }
    return {v for v in dotted if not v.startswith("http")} - metrics() - NOT_ATTRIBUTES


def test_every_fact_passes_the_stripped_pipeline() -> None:
    """BE-03: an attribute that is renamed or new is named here, or it does not pass."""
    assert attributes() - NOT_FACTS - allowed() == set()


def test_nothing_else_of_ours_passes() -> None:
    assert NOT_FACTS & allowed() == set()
    ours = {name for name in allowed() if name.startswith(("gen_ai.", "loopspan."))}
    assert ours <= attributes()


def test_the_processors_for_an_existing_collector_are_the_same() -> None:
    own = loaded("config.yaml")["processors"]
    existing = loaded("config-existing.yaml")
    del own["memory_limiter"]

    assert existing == {"processors": own}


def test_rules_of_privacy_fail_closed() -> None:
    for name, processor in loaded("config.yaml")["processors"].items():
        if name.startswith(("filter", "transform")):
            assert processor["error_mode"] == "propagate", name
    assert not loaded("config.yaml")["processors"]["redaction/known_attributes_only"][
        "allow_all_keys"
    ]

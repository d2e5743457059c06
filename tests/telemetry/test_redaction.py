"""Secrets of known shapes are masked, other text is not, and JSON stays JSON."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopspan import ConfigurationError, Redaction
from loopspan.telemetry.redaction import DEFAULT_REDACTION
from loopspan.telemetry.rules import DEFAULT_RULES
from tests.telemetry.generated import texts, values

redact = DEFAULT_REDACTION.redact

KEYS = {
    "openai": ("api_key", "sk-proj-Ab1_cd2-Ef3gh4Ij5kl6"),
    "anthropic": ("api_key", "sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6-xyz"),
    "groq": ("api_key", "gsk_Ab1cd2Ef3gh4Ij5kl6Mn7op8"),
    "google": ("api_key", "AIzaSyA-1234567890abcdefghijklmnopqrstu"),
    "aws": ("aws_key", "AKIAIOSFODNN7EXAMPLE"),
    "github": ("github_token", "ghp_0123456789abcdefghijABCDEFGHIJ456789"),
    "github-fine": ("github_token", "github_pat_11AAAAAAA0_abcdefghijklmnop"),
    "slack": ("slack_token", "xoxb-123456789012-abcdefGHIJ"),
    "jwt": ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN-_Hl"),
    "private-key": (
        "private_key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow/+==\nabc\n-----END RSA PRIVATE KEY-----",
    ),
}
each_key = pytest.mark.parametrize(("rule", "key"), KEYS.values(), ids=KEYS)


@each_key
def test_a_key_is_masked_wherever_it_stands(rule: str, key: str) -> None:
    mark = f"[redacted: {rule}]"
    for around in ("{}", "the key is {}, keep it", "KEY={}\nNEXT=1", '"{}"', "({})", "x: {}."):
        assert redact(around.format(key).replace("{}", key)) == around.replace("{}", mark)


@each_key
def test_a_key_is_masked_inside_json(rule: str, key: str) -> None:
    value = {"parts": [{"content": f'say "{key}"\n', "n": 1.0}], key: None, "deep": {"x": [key]}}
    for text in (
        json.dumps(value),
        json.dumps(value, indent=2),
        json.dumps({"result": json.dumps({"again": json.dumps(value)})}),
        escaped := "".join(rf"\u{ord(c):04x}" for c in key).join(('{"a":"', '"}')),
        json.dumps({"result": json.dumps({"again": escaped})}),
    ):
        masked = redact(text)
        json.loads(masked)
        assert key not in masked
        assert json.dumps(key)[1:-1] not in masked
        assert f"[redacted: {rule}]" in masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted: authorization]"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted: authorization]"),
        ("-H 'Authorization: 1234567890'", "-H 'Authorization: [redacted: authorization]'"),
        ('{"Authorization": "Bearer x1y2z3w4"}', '{"Authorization": "[redacted: secret_field]"}'),
        ("x-api-key: 0a1b2c3d", "x-api-key: [redacted: authorization]"),
        ("Authorization: Digest username='a', response='b'\nHost: c", None),
        ("sent with bearer 0123456789abc", "sent with bearer [redacted: authorization]"),
    ],
)
def test_authorization_is_masked(text: str, masked: str | None) -> None:
    assert redact(text) == (masked or "Authorization: [redacted: authorization]\nHost: c")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgresql://app:hunter2@db.example:5432/shop?sslmode=on", "hunter2"),
        ("see mysql://app:p@ss/w?r#d@db/shop.", "p@ss/w?r#d"),
        ("redis://:hunter2@cache", "hunter2"),
        ("mongodb+srv://u:p%40ss@h1,h2/db", "p%40ss"),
        ("https://u:s3cret@host/path?to=bob@example.com", "s3cret"),
        ("https://u:s3/cret@host/path", "s3/cret"),
        ("amqp://u:one@a", "one"),
        ("Server=db;User Id=sa;Password=hunter2;", "hunter2"),
        ("https://x.example/?api_key=hunter2&page=2", "hunter2"),
        ("host=db password=hunter2 user=app", "hunter2"),
    ],
)
def test_only_the_password_of_an_address_is_masked(text: str, secret: str) -> None:
    assert re.sub(r"\[redacted: (url_password|secret_field)\]", secret, redact(text)) == text
    assert redact(text).count("[redacted: ") == 1


@pytest.mark.parametrize(
    "key",
    ["api_key", "apiKey", "API-KEY", "password", "client_secret", "access_token", "x-api-key"],
)
def test_a_field_that_is_called_a_secret_is_masked_whatever_it_holds(key: str) -> None:
    assert json.loads(redact(json.dumps({key: 'a "b" \\', "b": "c"}))) == {
        key: "[redacted: secret_field]",
        "b": "c",
    }
    told = json.dumps({"log": "sent " + json.dumps({key: 'a "b"'}) + " to them"})
    assert json.loads(redact(told))["log"] == (
        f'sent {{"{key}": "[redacted: secret_field]"}} to them'
    )
    assert redact(f"{{'{key}': 'a b', 'b': 1}}") == (
        f"{{'{key}': '[redacted: secret_field]', 'b': 1}}"
    )


def test_a_field_is_masked_at_every_depth_of_json_in_json() -> None:
    value: Any = {"password": 'hun"ter\\'}
    for _ in range(3):
        masked = redact(json.dumps(value))
        assert "ter" not in masked
        value = {"result": json.dumps(value)}
    assert redact(r"cut: \"password\":\"hunter2\", and") == (
        r"cut: \"password\":\"[redacted: secret_field]\", and"
    )


def test_what_is_masked_stays_as_it_is() -> None:
    redaction = Redaction(patterns={"key": r"\w+_(?:key|field)"})
    for text in (KEYS["openai"][1], json.dumps({"api_key": "x"}), "password=x"):
        masked = redaction.redact(text)
        assert "[redacted: " in masked
        assert redaction.redact(masked) is masked
    told = json.dumps({"password": "[redacted: api_key]"})
    assert redact(told) is told


def test_a_field_that_was_cut_in_the_middle_is_masked() -> None:
    assert redact('{"a": 1, "password": "hunter') == (
        '{"a": 1, "password": "[redacted: secret_field]'
    )


def test_a_key_that_was_cut_in_the_middle_is_masked() -> None:
    text = "the key is sk-ant-ab… [cut: 20 of 40 bytes kept]"
    assert redact(text) == "the key is [redacted: api_key]… [cut: 20 of 40 bytes kept]"


@pytest.mark.parametrize(
    "text",
    [
        '{"env":"prod","session_id":"s-1","max_tokens":100}',
        "see the password policy",
        "Password: required. The token is a word; a secret key opens the door.",
        '{"password": {"type": "string"}, "secret": true, "api_key": null, "token": "Hello"}',
        '{"next_page_token": "abc", "keys": ["a"], "monkey": "banana", "password": ""}',
        "Authorization: required",
        "Bearer authentication is a scheme",
        "http://localhost:8080/users?mail=bob@example.com",
        "mailto:bob@example.com and http://example.com/@bob",
        "a task-oriented risk-averse desk-bound sk-learn user",
        "Asia/Tokyo AKIRA eyJ. xoxo ghp_ sk- gsk_ AIza",
        "password=",
        "call_9f8e7d6c5b4a39281706 toolu_01A09q90qw90lq917835lq9 chatcmpl-123",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "",
    ],
)
def test_pr_08_what_is_no_secret_stays_the_same_object(text: str) -> None:
    assert redact(text) is text
    assert DEFAULT_REDACTION.preview(text) == []


def test_pr_07_the_mark_of_a_custom_rule_names_the_rule_only() -> None:
    address = "corp-db://admin:Tr0ub4dor@10.0.0.7/payroll"
    redaction = Redaction(rules=(), patterns={"internal address": r"corp-db://\S+"})
    masked = redaction.redact(f"connect to {address} now")
    assert masked == "connect to [redacted: internal address] now"
    [finding] = redaction.preview(f"connect to {address} now")
    assert finding == ("internal address", 11, 11 + len(address), masked)


def test_a_pattern_masks_its_group_secret_where_it_has_one() -> None:
    redaction = Redaction(patterns={"pin": re.compile(r"pin is (?P<secret>\d{4})")})
    assert redaction.redact("the pin is 1234.") == "the pin is [redacted: pin]."


def test_a_pattern_is_searched_in_decoded_strings() -> None:
    redaction = Redaction(patterns={"path": r"C:\\\w+"})
    masked = redaction.redact(json.dumps({"a": r"in C:\secrets now", "b": "ü\u2028"}))
    assert json.loads(masked) == {"a": "in [redacted: path] now", "b": "ü\u2028"}


def test_rules_that_are_left_out_mask_nothing() -> None:
    [rule] = [rule for rule in DEFAULT_RULES if rule.name == "aws_key"]
    text = "AKIAIOSFODNN7EXAMPLE and sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6"
    assert Redaction([rule]).redact(text) == (
        "[redacted: aws_key] and sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6"
    )


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("open", "(ab"),
        ("empty", "x*"),
        ("lookahead", "(?=$)"),
        ("bad\nname", "x"),
        ("", "x"),
        ("a]b", "x"),
        ("bytes", re.compile(b"x")),
    ],
)
def test_a_pattern_that_cannot_work_is_refused_by_name(name: str, pattern: Any) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(repr(name))):
        Redaction(patterns={name: pattern})


def test_pr_08_a_preview_lists_what_each_rule_would_mask_without_showing_it() -> None:
    text = json.dumps(
        [
            {"text": "mail sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6 to\nthem, then"},
            {"log": json.dumps({"password": 'hun"ter'})},
            {"url": "postgres://app:hunter2@db"},
        ]
    )
    found = DEFAULT_REDACTION.preview(text)
    assert [finding.rule for finding in found] == ["api_key", "secret_field", "url_password"]
    assert [text[finding.start : finding.end] for finding in found] == [
        "sk-ant-api03-Ab1cd2Ef3gh4Ij5kl6",
        r"hun\\\"ter",
        "hunter2",
    ]
    for finding in found:
        assert f"[redacted: {finding.rule}]" in finding.excerpt
        assert not any(secret in finding.excerpt for secret in ("api03", "ter", "hunter2"))
    assert found[0].excerpt == r'[{"text": "mail [redacted: api_key] to\nthem, then"}, {"log'


def test_matches_that_overlap_become_one_mark() -> None:
    redaction = Redaction(patterns={"first": "abc", "second": "cde", "third": "b"})
    assert redaction.redact("xabcdex") == "x[redacted: first]x"


@given(value=values, text=texts, key=st.sampled_from([key for _, key in KEYS.values()]))
def test_json_stays_json_and_holds_no_key(value: Any, text: str, key: str) -> None:
    before = {"value": value, "text": f"{text} {key} {text}"}
    masked = redact(json.dumps(before))
    after = json.loads(masked)
    assert key not in json.dumps(after, ensure_ascii=False)
    assert list(after) == ["value", "text"]
    assert redact(masked) is masked


@given(text=texts)
def test_redaction_is_total_and_stable(text: str) -> None:
    masked = redact(text)
    assert redact(masked) is masked


FRAGMENTS = (
    *("sk-", "sk-aaaaaaaaaaaaaa ", "gsk_a", "AIza", "AKIA", "AKIAAAAAAAAAAAAAAA", "ghp_", "xoxb-"),
    *("eyJ", "eyJaaaaaaaaa", "eyJaaaaaaaaa.", "eyJaaaaaaaaa.eyJ-", "eyJaaaaaaaaa.eyJaaaaaaaaa-"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END", "PRIVATE KEY-----", "-"),
    *("authorization: ", "authorization:::", "bearer ", "bearer a", "authorization: digest "),
    *("://", "://a:", "://:@", "a://a:b/", "@", "://a:8080/"),
    *("'password':'", '\\"password\\":\\"', '"password": ', "password=", " password=a"),
    *('\\\\\\"', '"', "\\", "[redacted: api_key]", "{", '["', '{"a":', "api_key", "… [cut: "),
)


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_no_text_takes_more_than_time_in_line_with_its_length(fragment: str) -> None:
    # Anything worse than that would take hours here.
    text = fragment * (400_000 // len(fragment))
    hints = "@ :// private key----- eyj akia sk- ghp_ xoxb- bearer password="
    for whole in (text, f"{hints}{text}{hints}", json.dumps([text, hints])):
        redact(whole)

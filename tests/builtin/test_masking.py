"""What counts as a secret in text that a tool shows."""

import pytest

from loopspan.builtin.masking import is_secret_name, looks_random, masked
from loopspan.secrets import MASK


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "GITHUBTOKEN",
        "API_TOKENS",
        "PGPASSWORD",
        "SSHPASS",
        "DB_PASS",
        "MYSQL_PWD",
        "SENTRY_DSN",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "BASIC_AUTH",
        "session_cookie",
        "apiKey",
        "KEY",
    ],
)
def test_name_of_a_secret(name: str) -> None:
    assert is_secret_name(name, "x")


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "KEYBOARD_LAYOUT", "TOKENIZERS_PARALLELISM"]
)
def test_name_of_no_secret(name: str) -> None:
    assert not is_secret_name(name, "x")


def test_count_of_tokens_is_no_secret() -> None:
    assert not is_secret_name("MAX_TOKENS", "4096")


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefgh12345678",
        "sk-ant-api03-abcdefgh",
        "sk_live_abcdefgh1234",
        "gsk_abcdefgh12345678",
        "AIza" + "a" * 35,
        "AKIA" + "A1" * 8,
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "glpat-abcdefgh1234",
        "xoxb-1234567890-abc",
        "hf_abcdefgh12345678",
        "eyJhbGciOi.eyJzdWIiOi.abc-_1",
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMII",
    ],
)
def test_key_is_masked_inside_text(secret: str) -> None:
    assert masked(f"before {secret}") == f"before {MASK}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://ann:p4ss@db/x", f"postgres://{MASK}@db/x"),
        ("redis://:p/4@ss@db", f"redis://{MASK}@db"),
        ("https://tok3n@host/path", f"https://{MASK}@host/path"),
        ("Authorization: Bearer abc.DEF123", f"Authorization: {MASK} {MASK}"),
        ("sent Basic dXNlcjpwYXNz=", f"sent Basic {MASK}"),
        ("Server=db;Password=hunter2;Port=1", f"Server=db;Password={MASK};Port=1"),
        ('{"client_secret": "a b"}', f'{{"client_secret": {MASK}}}'),
        ("https://h/?a=1&api_key=xyz&b=2", f"https://h/?a=1&api_key={MASK}&b=2"),
    ],
)
def test_login_is_masked_where_it_stands(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "see the password policy",
        "env session_id max_tokens=4096",
        "https://example.org/a:b?c=d",
        "http://localhost:8600",
        "Basic information about Bearer authentication",
        "task-scheduler risk-averse",
        "mail ann@example.org",
        "/usr/bin:/bin",
        "",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("value", ["aB3" * 10, "0123456789abcdef" * 2])
def test_random_word(value: str) -> None:
    assert looks_random(value)


@pytest.mark.parametrize("value", ["en_US.UTF-8", "xterm-256color", "/usr/Lib/2" * 4, "a" * 40])
def test_no_random_word(value: str) -> None:
    assert looks_random(value) is (value == "a" * 40)  # it could be hexadecimal

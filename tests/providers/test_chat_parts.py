"""Media in the chat-completions family, in both directions."""

from typing import Any

import pytest

from loopspan.errors import UnsupportedContent
from loopspan.messages import (
    Blob,
    File,
    Generic,
    Part,
    Uri,
    assistant,
    user,
)
from tests.providers.chat import again, wire


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (
            Blob("image", "AAAA", "image/png"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ),
        (
            Uri("image", "https://example.org/1"),
            {"type": "image_url", "image_url": {"url": "https://example.org/1"}},
        ),
        (
            Blob("audio", "AAAA", "audio/x-wav"),
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ),
        (
            Blob("document", "AAAA", "application/pdf"),
            {
                "type": "file",
                "file": {
                    "file_data": "data:application/pdf;base64,AAAA",
                    "filename": "document.pdf",
                },
            },
        ),
        (File("document", "f1"), {"type": "file", "file": {"file_id": "f1"}}),
    ],
)
def test_media_are_written(part: Part, sent: dict[str, Any]) -> None:
    assert wire(user(part)) == [{"role": "user", "content": [sent]}]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://h/1"}, "cache_control": {}},
        {"type": "image_url", "image_url": "https://h/1"},
        {"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "x-new"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav", "id": 1}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
        {
            "type": "file",
            "file": {"file_data": "data:text/plain;base64,AAAA", "filename": "a.txt"},
        },
        {"type": "file", "file": {"file_id": "f1", "format": "pdf"}},
        {"type": "file", "file": {"file_data": "https://h/1.pdf"}},
    ],
    ids=str,
)
def test_media_of_each_form_go_back_as_they_came(part: dict[str, Any]) -> None:
    message = {"role": "user", "content": [part]}
    assert again(message) == [message]


@pytest.mark.parametrize(
    "part",
    [
        Blob("video", "AAAA", "video/mp4"),
        Uri("audio", "https://example.org/1"),
        Uri("document", "https://example.org/1"),
        File("image", "f1"),
    ],
)
def test_media_that_are_not_taken_are_refused_with_advice(part: Blob | Uri | File) -> None:
    with pytest.raises(UnsupportedContent, match=f"openai takes no '{part.type}'.*{part.modality}"):
        wire(user(part))


def test_a_blob_without_a_media_type_is_refused_with_advice() -> None:
    with pytest.raises(UnsupportedContent, match="mime_type"):
        wire(user(Blob("image", "AAAA")))


def test_an_unknown_part_of_a_user_is_refused_with_advice() -> None:
    with pytest.raises(UnsupportedContent, match="'hologram'"):
        wire(user(Generic("hologram", {"x": 1})))


def test_an_unknown_part_of_another_providers_answer_is_left_out() -> None:
    foreign = Generic("server_tool_use", {"id": "s"}, extra={"anthropic": {}})
    assert wire(assistant(foreign, "Hi")) == [{"role": "assistant", "content": "Hi"}]

"""The newest log records: what is kept of them, and that the program's logging stays its own."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from threading import Thread

import pytest

from loopspan.builtin import RecentLogs, builtin_tools
from loopspan.builtin.logs import Level
from loopspan.errors import InvalidArguments
from loopspan.secrets import MASK
from loopspan.tools import RESULT_LIMIT, result_text

logger = logging.getLogger("tests.logs")


@pytest.fixture
def logs() -> Iterator[RecentLogs]:
    logs = RecentLogs()
    logger.setLevel(logging.DEBUG)
    logs.attach()
    yield logs
    logs.detach()
    logger.setLevel(logging.NOTSET)


def messages(logs: RecentLogs, level: Level = "DEBUG", limit: int = 20) -> list[str]:
    return [entry["message"] for entry in logs.entries(level, limit)]


def test_record_is_kept(logs: RecentLogs) -> None:
    logger.info("hello %s", "you")
    (entry,) = logs.entries()
    assert datetime.fromisoformat(entry.pop("time")).tzinfo
    assert entry == {"level": "INFO", "logger": "tests.logs", "message": "hello you"}


def test_exception_is_named_without_its_text(logs: RecentLogs) -> None:
    try:
        raise ValueError("private")
    except ValueError:
        logger.exception("it failed")
    assert logs.entries()[0]["exception"] == "ValueError"
    assert "private" not in str(logs.entries())


def test_levels_below_are_left_out(logs: RecentLogs) -> None:
    logger.info("a")
    logger.warning("b")
    logger.error("c")
    assert messages(logs, "WARNING") == ["b", "c"]


def test_newest_are_shown_last(logs: RecentLogs) -> None:
    for i in range(5):
        logger.info("%d", i)
    assert messages(logs, limit=2) == ["3", "4"]
    assert messages(logs, limit=0) == []


def test_older_records_are_forgotten(logs: RecentLogs) -> None:
    for i in range(300):
        logger.info("%d", i)
    assert len(messages(logs, limit=1_000)) == 200


def test_message_is_cut(logs: RecentLogs) -> None:
    logger.info("x" * 100_000)
    assert messages(logs) == ["x" * 500 + "…"]


def test_secret_is_masked(logs: RecentLogs) -> None:
    logger.info("key %s sent", "sk-proj-abcdefgh12345678")
    assert messages(logs) == [f"key {MASK} sent"]


def test_record_that_cannot_be_read_does_not_raise(
    logs: RecentLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    logs.handle(logging.makeLogRecord({"msg": "%d", "args": ("x",), "levelno": logging.INFO}))
    assert messages(logs) == []


def test_records_may_be_read_while_others_log(logs: RecentLogs) -> None:
    def write() -> None:
        for _ in range(500):
            logger.info("x")

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        logs.entries()
    assert len(messages(logs, limit=1_000)) == 200


def test_tool_shows_the_newest_from_info_on(logs: RecentLogs) -> None:
    logger.debug("a")
    logger.info("b")
    assert [entry["message"] for entry in logs.tool()()["records"]] == ["b"]


@pytest.mark.parametrize("arguments", [{"level": "LOUD"}, {"limit": 0}, {"limit": 51}])
def test_tool_refuses_odd_arguments(logs: RecentLogs, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArguments):
        logs.tool().arguments(arguments)


def test_result_is_bounded(logs: RecentLogs) -> None:
    for _ in range(100):
        logger.info("€" * 1_000)
    records = logs.tool()(limit=50)
    assert len(result_text(records)) < RESULT_LIMIT


def test_attaching_twice_keeps_records_once(logs: RecentLogs) -> None:
    builtin_tools(logs=logs)
    logger.info("a")
    assert messages(logs) == ["a"]


def test_detached_handler_hears_nothing(logs: RecentLogs) -> None:
    logs.detach()
    logger.info("a")
    assert messages(logs) == []


def output(code: str) -> str:
    start = "import logging\nfrom loopspan.builtin import RecentLogs, builtin_tools\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}builtin_tools(logs=RecentLogs())\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def test_warning_of_a_program_without_handlers_still_shows() -> None:
    assert output("logging.getLogger('x').warning('hear me')") == "hear me\n"


def test_information_of_a_program_without_handlers_still_does_not_show() -> None:
    code = "log = logging.getLogger('x'); log.setLevel('INFO'); log.info('hidden')"
    assert output(code) == ""


def test_warning_that_a_handler_shows_is_not_doubled() -> None:
    code = "log = logging.getLogger('x'); log.addHandler(logging.StreamHandler()); log.warning('a')"
    assert output(code) == "a\n"

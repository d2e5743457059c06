"""What a test needs beyond Python, and what happens where it is missing."""

import os
from typing import NoReturn

import pytest


def require_or_skip(what: str, reason: str) -> NoReturn:
    """Skip the test for this reason, or fail it if `what` is named in `LOOPSPAN_REQUIRE`.

    `LOOPSPAN_REQUIRE` lists, separated by commas, what must not be missing.
    """
    if what in map(str.strip, os.environ.get("LOOPSPAN_REQUIRE", "").split(",")):
        pytest.fail(f"LOOPSPAN_REQUIRE asks for {what!r}, but {reason}", pytrace=False)
    pytest.skip(reason)

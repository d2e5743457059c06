"""The router walk, and that it finds each guard that is taken out (PG-09)."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from starlette.responses import Response
from starlette.routing import Route

from loopspan.playground import Principal
from loopspan.playground.guard import (
    CHECKS,
    Check,
    check_content_type,
    check_host,
    check_options,
    check_own_header,
    check_permission,
    check_session,
    check_site,
)
from tests.playground import walk
from tests.playground.served import run_async, served

VIEWER = Principal("viewer")


def test_every_route_refuses_every_attack() -> None:
    assert run_async(walk.attacked(served().app)) == []


def test_without_a_session_only_shell_assets_and_login_answer() -> None:
    assert run_async(walk.without_session(served().app)) == []


def test_with_view_alone_each_route_asks_for_what_it_declares() -> None:
    assert run_async(walk.with_view_alone(served(principal=VIEWER).app)) == []


def test_good_headers_get_through() -> None:
    assert run_async(walk.good(served().app)) == []


def test_a_route_that_declares_no_permission_is_found() -> None:
    app = served().app

    def extra(request: object) -> Response:
        return Response()

    app.routes.append(Route("/extra", extra))  # type: ignore[arg-type]  # what a mistake would be
    assert any("declares no permission" in each for each in run_async(walk.good(app)))


Walk = Callable[[Any], Coroutine[Any, Any, list[str]]]


@pytest.mark.parametrize(
    ("check", "walked", "principal"),
    [
        pytest.param(check_host, walk.attacked, None, id="host"),
        pytest.param(check_options, walk.attacked, None, id="options"),
        pytest.param(check_site, walk.attacked, None, id="site"),
        pytest.param(check_content_type, walk.attacked, None, id="content-type"),
        pytest.param(check_own_header, walk.attacked, None, id="own-header"),
        pytest.param(check_session, walk.without_session, None, id="session"),
        pytest.param(check_permission, walk.with_view_alone, VIEWER, id="permission"),
    ],
)
def test_walk_fails_without_this_guard(
    check: Check, walked: Walk, principal: Principal | None
) -> None:
    checks = [each for each in CHECKS if each is not check]
    app = served(checks=checks, principal=principal).app
    assert run_async(walked(app)) != []


@pytest.mark.parametrize("method", walk.METHODS)
def test_walk_fails_where_one_method_is_let_through(method: str) -> None:
    async def check_host_but_for_one(asked: Any) -> None:
        if asked.method != method:
            await check_host(asked)

    checks = [check_host_but_for_one if each is check_host else each for each in CHECKS]
    wrong = run_async(walk.attacked(served(checks=checks).app, ["foreign host"]))
    assert wrong != []
    assert all(f" {method} " in each for each in wrong)


def test_all_guards_are_taken_out_by_some_test() -> None:
    assert len(CHECKS) == 7

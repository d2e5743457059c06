"""Who is there: codes, cookies, tokens, proxies."""

import logging
from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection

from loopspan import ConfigurationError
from loopspan.playground import Principal, ProxyAuth, TokenAuth, administrator
from loopspan.playground.app import Playground, guarded
from loopspan.playground.hosts import AllowedHosts
from tests.playground.served import GOOD, TOKEN, client, run_async, served

SECRET = "a-secret-that-only-the-proxy-knows-0123456789"


def with_auth(auth: Any) -> Playground:
    s = served()
    return guarded(s.app.runner, s.run_trace, auth, AllowedHosts())


async def login(http: httpx.AsyncClient, code: str) -> httpx.Response:
    return await http.post("/login", json={"code": code})


def test_code_is_exchanged_once_for_a_cookie_that_scripts_cannot_read() -> None:
    async def story() -> None:
        auth = TokenAuth(TOKEN, administrator())
        async with client(with_auth(auth), GOOD) as http:
            assert (await http.get("/api/boot")).status_code == 401
            code = auth.one_time_code()
            answer = await login(http, code)
            assert answer.status_code == 204
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("loopspan_8600=")
            assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
            assert "Secure" not in cookie
            assert (await http.get("/api/boot")).json()["principal"]["name"] == "admin"
        async with client(with_auth(auth), GOOD) as http:
            assert (await login(http, code)).status_code == 401

    run_async(story())


def test_cookie_is_secure_on_https_and_belongs_to_the_mount() -> None:
    async def story() -> str:
        auth = TokenAuth(TOKEN, administrator())
        app = with_auth(auth)
        transport = httpx.ASGITransport(app, root_path="/a/b")
        url = "https://localhost:8600"
        headers = {**GOOD, "origin": url}
        async with httpx.AsyncClient(transport=transport, base_url=url, headers=headers) as http:
            answer = await http.post("/a/b/login", json={"code": TOKEN})
            return answer.headers["set-cookie"]

    cookie = run_async(story())
    assert "Secure" in cookie
    assert "Path=/a/b/" in cookie


def test_session_ends_with_logout_and_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        auth = TokenAuth(TOKEN, administrator())
        async with client(with_auth(auth), GOOD) as http:
            await login(http, TOKEN)
            kept = dict(http.cookies)
            assert (await http.post("/logout", json={})).status_code == 204
            http.cookies.update(kept)
            assert (await http.get("/api/boot")).status_code == 401
            http.cookies.clear()
            await login(http, TOKEN)
            [value] = http.cookies.values()
            pair = f"loopspan_8600={value}".encode()
            headers = [(b"host", b"127.0.0.1:8600"), (b"cookie", pair)]
            connection = HTTPConnection({"type": "http", "headers": headers})
            assert auth(connection) is not None
            monkeypatch.setattr("loopspan.playground.auth.time.time", lambda: 2e9)
            assert auth(connection) is None

    run_async(story())


def test_cookie_of_another_process_with_the_same_token_counts() -> None:
    async def story() -> None:
        async with client(with_auth(TokenAuth(TOKEN, administrator())), GOOD) as http:
            await login(http, TOKEN)
            cookies = dict(http.cookies)
        async with client(with_auth(TokenAuth(TOKEN, administrator())), GOOD) as http:
            http.cookies.update(cookies)
            assert (await http.get("/api/boot")).status_code == 200
        async with client(with_auth(TokenAuth(TOKEN + "x", administrator())), GOOD) as http:
            http.cookies.update(cookies)
            assert (await http.get("/api/boot")).status_code == 401

    run_async(story())


@pytest.mark.parametrize("value", ["", "x", "..", "9999999999.a.b", "nonsense.x.y", "\x00"])
def test_made_up_cookie_is_nobody(value: str) -> None:
    headers = [(b"host", b"127.0.0.1:8600"), (b"cookie", f"loopspan_8600={value}".encode())]
    connection = HTTPConnection({"type": "http", "headers": headers})
    assert TokenAuth(TOKEN, administrator())(connection) is None


def test_cookie_alone_does_not_change_anything_without_its_origin() -> None:
    """Browsers send no Sec-Fetch headers over plain http outside loopback."""

    async def story() -> None:
        own = {k: v for k, v in GOOD.items() if k not in ("origin", "sec-fetch-site")}
        async with client(with_auth(TokenAuth(TOKEN, administrator())), own) as http:
            await http.post("/login", json={"code": TOKEN}, headers={"origin": GOOD["origin"]})
            refused = await http.post("/logout", json={})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "no_origin")
            answer = await http.post("/logout", json={}, headers={"sec-fetch-site": "same-origin"})
            assert answer.status_code == 204

    run_async(story())


def test_sixth_wrong_code_in_a_minute_waits(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        auth = TokenAuth(TOKEN, administrator())
        async with client(with_auth(auth), GOOD) as http:
            for _ in range(5):
                assert (await login(http, "wrong-code")).status_code == 401
            refused = await login(http, TOKEN)
            assert refused.status_code == 429
            assert 0 < int(refused.headers["retry-after"]) <= 60

    with caplog.at_level(logging.INFO, "loopspan.playground.audit"):
        run_async(story())
    assert len(caplog.records) == 5
    assert "wrong-code" not in caplog.text


def test_token_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="fewer than 32 characters"):
        TokenAuth("hunter2", administrator())


def test_unknown_permission_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no permission 'everything'"):
        Principal("x", frozenset({"everything"}))  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("address", "headers", "name"),
    [
        ("10.0.0.1", {"x-forwarded-user": "ada", "x-playground-proxy": SECRET}, "ada"),
        ("10.0.0.2", {"x-forwarded-user": "ada", "x-playground-proxy": SECRET}, None),
        ("10.0.0.1", {"x-forwarded-user": "ada", "x-playground-proxy": "wrong"}, None),
        ("10.0.0.1", {"x-forwarded-user": "ada"}, None),
        ("10.0.0.1", {"x-playground-proxy": SECRET}, None),
        ("not-an-address", {"x-forwarded-user": "ada", "x-playground-proxy": SECRET}, None),
    ],
)
def test_proxy_is_trusted_from_its_address_and_with_its_secret(
    address: str, headers: dict[str, str], name: str | None
) -> None:
    auth = ProxyAuth(SECRET, ["10.0.0.1"], permissions=["view", "content"])
    raw = [(k.encode(), v.encode()) for k, v in headers.items()]
    connection = HTTPConnection({"type": "http", "headers": raw, "client": (address, 1)})
    found = auth(connection)
    assert (None if found is None else found.name) == name
    if found is not None:
        assert found.permissions == {"view", "content"}
        assert not found.is_admin


def test_user_who_is_told_twice_is_nobody() -> None:
    raw = [(b"x-forwarded-user", b"ada"), (b"x-forwarded-user", b"eve")]
    raw.append((b"x-playground-proxy", SECRET.encode()))
    connection = HTTPConnection({"type": "http", "headers": raw, "client": ("10.0.0.1", 1)})
    assert ProxyAuth(SECRET, ["10.0.0.1"])(connection) is None


def test_predicate_of_the_host_may_be_async() -> None:
    async def auth(connection: HTTPConnection) -> Principal | None:
        user = connection.headers.get("x-user")
        return None if user is None else Principal(user)

    async def story() -> None:
        async with client(with_auth(auth), GOOD) as http:
            assert (await http.get("/api/boot")).status_code == 401
            told = (await http.get("/api/boot", headers={"x-user": "ada"})).json()
            assert (told["principal"]["name"], told["can"]) == ("ada", ["view"])
            assert (await login(http, TOKEN)).status_code == 404

    run_async(story())

"""The playground at any place: the root, a mount, behind a proxy that strips its prefix."""

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from loopspan.playground.app import Playground
from loopspan.testing import calls
from tests.playground.served import BEARER, GOOD, HERE, run_async, served


def mounted(app: Playground, place: str) -> tuple[ASGIApp, str]:
    """Return an application and the root path that its server was given."""
    match place:
        case "root":
            return app, ""
        case "mount":
            return Starlette(routes=[Mount("/a/b", app)]), ""
        case "two mounts":
            inner = Starlette(routes=[Mount("/b", app)])
            return Starlette(routes=[Mount("/a", inner)]), ""
        case "FastAPI":
            outer = FastAPI()
            outer.mount("/a/b", app)
            return outer, ""
        case _:
            return app, "/a/b"


@pytest.mark.parametrize("place", ["root", "mount", "two mounts", "FastAPI", "root_path"])
def test_whole_way_works_at(place: str) -> None:
    async def story() -> None:
        s = served(calls("add", a=1, b=2), "3")
        app, root_path = mounted(s.app, place)
        prefix = "" if place == "root" else "/a/b"
        transport = httpx.ASGITransport(app, root_path=root_path)
        headers = {**GOOD, **BEARER}
        async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=headers) as http:
            assert (await http.get(f"{prefix}/")).headers["content-type"].startswith("text/html")
            value = {"configuration": "helper", "prompt": "1 + 2?"}
            answer = await http.post(f"{prefix}/api/runs", json=value)
            assert answer.status_code == 202
            run = answer.json()["runs"][0]
            assert run["url"] == f"#run/{run['run_id']}"
            await s.app.runner.finished(run["run_id"])
            shown = await http.get(f"{prefix}/api/runs/{run['run_id']}")
            assert shown.json()["run"]["outcome"] == "completed"
            refused = await http.get(f"{prefix}/api/boot", headers={"host": "evil.example"})
            assert refused.status_code == 421

    run_async(story())


def test_bare_mount_leads_to_the_shell_relatively() -> None:
    async def story() -> None:
        transport = httpx.ASGITransport(served().app, root_path="/a/b")
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as http:
            answer = await http.get("/a/b")
            assert (answer.status_code, answer.headers["location"]) == (307, "b/")
            assert answer.url.join(answer.headers["location"]).path == "/a/b/"
            refused = await http.get("/a/b", headers={"host": "evil.example"})
            assert refused.status_code == 421

    run_async(story())


def test_run_of_another_worker_is_a_clear_404() -> None:
    async def story() -> None:
        one, other = served("Hello"), served()
        transports = [httpx.ASGITransport(each.app) for each in (one, other)]
        headers = {**GOOD, **BEARER}
        async with (
            httpx.AsyncClient(transport=transports[0], base_url=HERE, headers=headers) as here,
            httpx.AsyncClient(transport=transports[1], base_url=HERE, headers=headers) as there,
        ):
            value = {"configuration": "helper", "prompt": "Hello"}
            run_id = (await here.post("/api/runs", json=value)).json()["runs"][0]["run_id"]
            await one.app.runner.finished(run_id)
            answer = await there.get(f"/api/runs/{run_id}")
            assert answer.status_code == 404
            assert "memory is per process" in answer.json()["error"]["hint"]
            assert (await there.get("/api/boot")).json()["process"]["pid"] > 0

    run_async(story())

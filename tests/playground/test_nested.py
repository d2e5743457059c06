"""Agents that are called by tools: runs of their own, found from the step that started them."""

from loopspan import ToolLoop, tool
from loopspan.testing import ScriptedModel, calls, capture
from tests.playground.served import client, run_async, served


def test_run_names_the_runs_that_its_tools_started() -> None:
    async def story() -> None:
        with capture() as captured:
            inner, outer = ScriptedModel(["42"]), ScriptedModel([calls("ask"), "It is 42."])

            def loop(model: ScriptedModel, *tools: object) -> ToolLoop:
                return ToolLoop(
                    model.model,
                    tools,  # type: ignore[arg-type]  # functions and tools alike
                    tracer_provider=captured.provider,
                    content="full",
                    client=model.client,
                )

            @tool
            def ask() -> str:
                """Ask another agent."""
                return str(loop(inner).run("What is it?").content)

            run_id = loop(outer, ask).run("What is the answer?").run_id
            async with client(served(run_trace=captured.run_trace).app) as http:
                shown = (await http.get(f"/api/runs/{run_id}")).json()
                [child] = shown["children"]
                assert shown["steps"][child["n"] - 1]["name"] == "ask"
                nested = (await http.get(f"/api/runs/{child['run_id']}")).json()
                assert (nested["run"]["title"], nested["children"]) == ("What is it?", [])

    run_async(story())

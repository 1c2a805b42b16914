"""An agent library of the field (pydantic-ai) over llama.cpp's server: same asks, same tools.

Edge. The library is not a dependency of this project; it goes into an environment of its own:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install "pydantic-ai-slim[openai]"
    python -m bench --peers /tmp/peers/bin/python

Run as a program by that Python this file is the child. It needs nothing of ours: tools are run by
the parent, a line of JSON there and one back.
"""

import json
import sys
import time

MOST_REQUESTS = 12


def tell(value):
    """Send one line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main():
    """Play one ask after another."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    setup = json.loads(sys.stdin.readline())
    provider = OpenAIProvider(base_url=f"{setup['address']}/v1", api_key=setup["key"])
    model = OpenAIChatModel("local", provider=provider)
    tell({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        agent = Agent(
            model,
            instructions=asked["instructions"],
            tools=[tool_of(spec) for spec in asked["tools"]],
            model_settings={"temperature": 0, "max_tokens": 512},
            retries=2,
        )
        tell(play(agent, asked["ask"]))


def play(agent, ask):
    """Run one turn; a turn that fails is told as such, with its time."""
    from pydantic_ai.usage import UsageLimits

    started = time.perf_counter()
    try:
        ran = agent.run_sync(ask, usage_limits=UsageLimits(request_limit=MOST_REQUESTS))
        text, why = str(ran.output), ""
    except Exception as error:  # noqa: BLE001 - a turn of a peer may fail in any way
        text, why = "", f"{type(error).__name__}: {error}"[:300]
    return {"done": {"text": text, "why": why, "seconds": time.perf_counter() - started}}


def tool_of(spec):
    """Return a tool that the parent runs."""
    from pydantic_ai import Tool

    def call(**arguments):
        tell({"call": {"tool": spec["name"], "arguments": arguments}})
        return json.loads(sys.stdin.readline())["result"]

    return Tool.from_schema(
        call,
        name=spec["name"],
        description=spec["description"],
        json_schema=spec["parameters"],
    )


if __name__ == "__main__":
    main()

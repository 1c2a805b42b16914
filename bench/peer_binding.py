"""llama-cpp-python's own chat completion, as its users call it.

Edge. `Binding` is the peer; run as a program this file is the child that holds the model:

    python -m bench.peer_binding MODEL WINDOW THREADS
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from bench.answers import Answer
from bench.child import Child, own_python
from bench.recorded import messages

if TYPE_CHECKING:
    from bench.subject import Subject
    from goliath_local.model import Request


class Binding:
    """The binding's `create_chat_completion` with a JSON-schema response format."""

    name = "binding"

    def __init__(self, subject: Subject, *, window_tokens: int = 4096) -> None:
        self.child = Child(
            own_python(
                "bench.peer_binding", str(subject.path), str(window_tokens), str(subject.threads)
            )
        )
        self.load_s = self.child.hear()["load_s"]

    def ask(self, request: Request, *, cold: bool = False) -> Answer:
        """Return the reply."""
        started = time.perf_counter()
        self.child.say(
            {
                "messages": messages(request),
                "schema": request.schema,
                "max_tokens": request.max_tokens,
                "cold": cold,
            }
        )
        heard = self.child.hear()
        return Answer(seconds=time.perf_counter() - started, **heard)

    def close(self) -> None:
        """End the child."""
        self.child.close()


def main() -> None:
    """Answer one line after another until nobody asks any more."""
    started = time.perf_counter()
    llama = _load(sys.argv[1], window_tokens=int(sys.argv[2]), threads=int(sys.argv[3]))
    _tell({"load_s": time.perf_counter() - started})
    for line in sys.stdin:
        try:
            _tell(_reply(llama, json.loads(line)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
            _tell({"error": f"{type(error).__name__}: {error}"})


def _load(path: str, *, window_tokens: int, threads: int) -> Any:
    from llama_cpp import Llama

    class Counting(Llama):
        """Counts the prompt's tokens that are really evaluated."""

        evaluated = 0

        def eval(self, tokens: Any) -> None:
            self.evaluated += len(tokens)
            super().eval(tokens)

    return Counting(
        model_path=path,
        n_ctx=window_tokens,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )


def _reply(llama: Any, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["cold"]:
        llama.reset()
        llama._ctx.kv_cache_clear()  # noqa: SLF001 - there is no public way to forget
    more = {}
    if asked["schema"] is not None:
        more["response_format"] = {"type": "json_object", "schema": asked["schema"]}
    llama.evaluated = 0
    done = llama.create_chat_completion(
        messages=asked["messages"], temperature=0.0, max_tokens=asked["max_tokens"], **more
    )
    usage = done["usage"]
    # Every sampled token but the last is evaluated one by one behind the prompt.
    decoded = max(usage["completion_tokens"] - 1, 0)
    return {
        "text": done["choices"][0]["message"]["content"] or "",
        "prompt_tokens": usage["prompt_tokens"],
        "evaluated_tokens": max(llama.evaluated - decoded, 0),
        "completion_tokens": usage["completion_tokens"],
    }


def _tell(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""llama.cpp's own server, at its best: prompt cache and host-memory cache on, one slot.

Edge. `Server` is the peer; run as a program this file is the child that serves:

    python -m bench.peer_server MODEL WINDOW THREADS
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench.answers import Answer, Failed
from bench.child import Child, own_python
from bench.recorded import messages

if TYPE_CHECKING:
    from bench.subject import Subject
    from goliath_local.model import Request

KEY = "key-of-the-benchmark"
_TIMEOUT_S = 600


class Server:
    """A running server, asked over HTTP as its users ask it."""

    name = "server"

    def __init__(self, subject: Subject, *, window_tokens: int = 4096) -> None:
        self.child = Child(
            own_python(
                "bench.peer_server", str(subject.path), str(window_tokens), str(subject.threads)
            )
        )
        told = self.child.hear()
        self.address: str = told["address"]
        self.build: str = told["build"]
        self._variables = dict(subject.variables)

    def ask(self, request: Request, *, cold: bool = False) -> Answer:
        """Return the reply."""
        body: dict[str, Any] = {
            "messages": messages(request),
            "max_tokens": request.max_tokens,
            "temperature": 0,
            "seed": 0,
            "cache_prompt": not cold,
        }
        if self._variables:
            body["chat_template_kwargs"] = self._variables
        if request.schema is not None:
            shape = {"name": "reply", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        started = time.perf_counter()
        done = self._post("/v1/chat/completions", body)
        seconds = time.perf_counter() - started
        usage, timings = done["usage"], done.get("timings", {})
        return Answer(
            text=done["choices"][0]["message"].get("content") or "",
            seconds=seconds,
            prompt_tokens=usage["prompt_tokens"],
            evaluated_tokens=timings.get("prompt_n", usage["prompt_tokens"]),
            completion_tokens=usage["completion_tokens"],
            prompt_s=timings.get("prompt_ms", 0.0) / 1000,
            decode_s=timings.get("predicted_ms", 0.0) / 1000,
        )

    def close(self) -> None:
        """End the server."""
        self.child.close()

    def _post(self, path: str, body: object) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        # A connection a request, a tenth of a millisecond here: a kept one may be closed by now.
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            message = f"{type(error).__name__}: {error}"
            raise Failed(message) from error
        finally:
            connection.close()
        if response.status != 200:
            message = f"HTTP {response.status}: {text[:300].decode('utf-8', 'replace')}"
            raise Failed(message)
        return json.loads(text)


def main() -> None:
    """Serve until nobody is interested any more."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = int(sys.argv[2])
    params.n_parallel = 1
    params.cpuparams.n_threads = int(sys.argv[3])
    params.cpuparams_batch.n_threads = int(sys.argv[3])
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.use_jinja = True
    params.cache_prompt = True  # and its host-memory cache keeps its own default of 8 GiB
    params.api_keys = [KEY]
    server = xllamacpp.Server(params)
    told = {"address": server.listening_address, "build": xllamacpp.get_system_info()}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()

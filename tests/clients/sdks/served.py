"""Starts the program for a test, and a tool whose arguments even a model that only tells stories gives, because they are
constrained."""
import contextlib
import re
import subprocess
import sys
import threading
import typing

import pydantic

STORY = [{"role": "user", "content": "Once upon a time"}]
TOO_LONG = [{"role": "user", "content": " dog" * 600}]


class Weather(pydantic.BaseModel):
    """Tells the weather"""

    model_config = pydantic.ConfigDict(extra="forbid")
    city: typing.Literal["Rome", "Oslo"]
    days: typing.Annotated[int, pydantic.Field(ge=1, le=9)]


@contextlib.contextmanager
def serve(*flags):
    """Gives the address of a server, which ends with the block."""
    command = [sys.argv[1], "serve", "--port", "0", "--chat-template", "chatml", *flags]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as server:
        try:
            log, address = "", None
            for line in server.stderr:
                log += line
                listening = re.search(r"listening on (http:\S+)", line)
                address = listening[1] if listening else address
                if "ready:" in line:
                    break
            else:
                raise RuntimeError(f"the server ended: {log}")
            threading.Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would stop the server
            yield address
        finally:
            server.terminate()


@contextlib.contextmanager
def raises(kind):
    """Fails unless the block raises an exception of this kind."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")

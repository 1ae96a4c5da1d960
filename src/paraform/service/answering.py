"""From a request to the answer of a model, or to one line that says why there is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from paraform.records import InputError
from paraform.service.asking import refused
from paraform.service.gathering import BusyError, ClosedError, Gatherer, TooMuchError, Work
from paraform.service.guard import as_json
from paraform.service.listening import tell_fault

GONE = 499  # nobody waits for the answer
LARGE = 64  # answers from which on JSON is written beside the loop

Respond = Callable[[Request], Awaitable[Response]]


class Question(NamedTuple):
    """What a request asks.

    Args:
        work: what is done with the items.
        items: one for each answer.
        shape: the answers, as the answer to the request; raises HTTPException where one will not do.
    """

    work: Work
    items: Sequence[Any]
    shape: Callable[[Sequence[Any]], dict[str, Any]]


def answering(ask: Callable[[Request], Awaitable[Question]], gatherer: Gatherer, seconds: float) -> Respond:
    """What answers a request by what `ask` makes of it, in at most so many seconds."""

    async def respond(request: Request) -> Response:
        try:
            question = await ask(request)
            answers = await _answers(request, question, gatherer, seconds)
            if answers is None:
                return Response(status_code=GONE)
            if len(answers) < LARGE:
                return as_json(question.shape(answers))
            return await asyncio.to_thread(lambda: as_json(question.shape(answers)))
        except HTTPException:
            raise
        except InputError as error:
            raise refused(f"{error}.") from None
        except ClientDisconnect:
            return Response(status_code=GONE)
        except asyncio.CancelledError:  # the end does not wait any longer
            return as_json({"error": {"message": "The service ended before it was done."}}, 503)
        except Exception as error:
            tell_fault(request.url.path, error)
            raise refused("Something went wrong here; another text may do.", 500) from None

    return respond


async def _answers(request: Request, question: Question, gatherer: Gatherer, seconds: float) -> list[Any] | None:
    """None: nobody waits for them any more."""
    try:
        waiting = asyncio.wrap_future(gatherer.ask(question.work, question.items))
    except BusyError as busy:
        said = f"Too much waits here; try again in about {busy.seconds} s."
        raise refused(said, 429, {"Retry-After": str(busy.seconds)}) from None
    except TooMuchError as much:
        raise refused(f"That is too much; expected at most {much.most:,} characters at once.", 413) from None
    except ClosedError:
        raise refused("The service is about to end.", 503) from None
    until = time.monotonic() + seconds
    try:
        while not (await asyncio.wait({waiting}, timeout=1))[0]:
            if await request.is_disconnected():
                return None
            if time.monotonic() > until:
                raise refused(f"It took more than {seconds:g} s; expected less at once.", 504)
        return waiting.result()
    finally:
        waiting.cancel()  # what nobody waits for is not computed


async def refuse(request: Request, error: Exception) -> Response:
    """What a refusal reads like: {"error": {"message": …}}."""
    assert isinstance(error, HTTPException)
    return as_json({"error": {"message": error.detail}}, error.status_code, error.headers)


def constant(response: Response) -> Respond:
    """The same answer to whoever asks."""

    async def respond(request: Request) -> Response:
        return response

    return respond

"""How a use case becomes a method: a decorator each for changes, reads and what concerns the daemon as a whole."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from shelfd.memory.call import Call
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.waiting import Told, outcome_of
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import Params

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

P = TypeVar("P", bound=Params)
UseCase = Callable[["Service", Call], Awaitable[dict[str, Any]]]
Answer = dict[str, Any]
Read = Callable[[Shelf, P, Call], Answer | Awaitable[Answer]]
Render = Callable[[Shelf, Changed, Call], dict[str, Any]]
Submit = Callable[[Shelf, Call, Told[Answer]], None]
_Ended: TypeAlias = Changed | Exception

#: Every use case by the name of its method.
USE_CASES: dict[str, UseCase] = {}
#: Those that do nothing but one change of an open shelf, and so can do without a task.
CHANGES: dict[str, Submit] = {}


def outcome_is_result(_shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    """Answer with what the change's function returned."""
    return dict(changed.outcome)


def change(
    name: str, *, render: Render = outcome_is_result
) -> Callable[[Callable[[Transaction, P, Call], Outcome]], Callable[[Transaction, P, Call], Outcome]]:
    """Make a function the change called *name*.

    The function runs in the store's transaction, maybe on its thread, and returns the outcome: ids and status,
    small and JSON-like, for that is what a repeated request is answered from. *render* makes the result of it,
    on the event loop, once the change is durable.
    """

    def register(apply: Callable[[Transaction, P, Call], Outcome]) -> Callable[[Transaction, P, Call], Outcome]:
        def submit(shelf: Shelf, call: Call, told: Told[Answer]) -> None:
            def over(changed: _Ended) -> None:
                try:
                    result = changed if isinstance(changed, Exception) else _result(render, shelf, changed, call)
                except Exception as error:  # noqa: BLE001 - whatever it was, the caller hears of it
                    result = error
                shelf.leave()
                told(result)

            shelf.enter()
            try:
                shelf.submit(call, apply, over)
            except BaseException:
                shelf.leave()
                raise

        async def run(service: "Service", call: Call) -> dict[str, Any]:
            shelf = await service.shelf(call)
            return await outcome_of(lambda told: submit(shelf, call, told))

        CHANGES[name] = submit
        USE_CASES[name] = run
        return apply

    return register


def _result(render: Render, shelf: Shelf, changed: Changed, call: Call) -> Answer:
    result = render(shelf, changed, call)
    if changed.replayed:
        result["replayed"] = True
    return result


def read(name: str) -> Callable[[Read[P]], Read[P]]:
    """Make a function the read called *name*; it runs once the shelf has reached ``min_seq``.

    One whose answer takes more than a few milliseconds is a coroutine function and gives others a turn in between.
    """

    def register(get: Read[P]) -> Read[P]:
        async def run(service: "Service", call: Call) -> dict[str, Any]:
            shelf = await service.shelf(call)
            shelf.enter()
            try:
                await shelf.reach(getattr(call.params, "min_seq", None))
                if call.room is not None and (wait := call.room()) is not None:
                    await wait
                answer = get(shelf, call.params, call)  # type: ignore[arg-type]
                return await answer if isinstance(answer, Awaitable) else answer
            finally:
                shelf.leave()

        USE_CASES[name] = run
        return get

    return register


def whole(name: str) -> Callable[[UseCase], UseCase]:
    """Make a coroutine function the method called *name*; it gets the service and sees to everything itself."""

    def register(use_case: UseCase) -> UseCase:
        USE_CASES[name] = use_case
        return use_case

    return register


__all__ = ["CHANGES", "USE_CASES", "Changed", "Outcome", "change", "outcome_is_result", "read", "whole"]

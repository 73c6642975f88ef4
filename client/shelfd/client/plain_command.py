"""A typer command that converts its arguments itself.

Recent typer validates every argument through pydantic, whose import alone takes longer than a command may take. Our
parameters are only text, numbers, switches and lists of text. A typer that keeps its conversion elsewhere than in
``_runtime_param`` just works as it comes; a test notices when that makes commands import pydantic again.
"""

import os
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from shelfd.client.failure import INTERRUPTED


class PlainCommand(TyperCommand):
    """What ``app.command(cls=...)`` takes."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """Return the parameters, ``--help`` included."""
        return _converted_by_us(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return what stands in the line of usage: optional arguments in brackets, others as they are."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        """Run the command, and leave to us what the library would make a status 1 of, in versions that differ."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader of our output has closed its end
            raise SystemExit(os.EX_OK) from None


class PlainGroup(TyperGroup):
    """What ``Typer(cls=...)`` takes."""

    def resolve_command(self, ctx: Any, args: Any) -> Any:  # noqa: ANN401
        """Return the command that *args* begin with; where there is none, say which one may be meant."""
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing and not word.startswith("-"):
            from shelfd.client.suggestions import advice  # for those who have mistyped

            ctx.fail(advice(word, list(self.commands), ctx.command_path))
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """Return the parameters, ``--help`` included."""
        return _converted_by_us(super().get_params(ctx))


def _converted_by_us(params: Any) -> Any:  # noqa: ANN401
    for param in params:
        descriptor: Any = getattr(param, "type_descriptor", None)
        if hasattr(param, "_runtime_param") and descriptor is not None:
            param._runtime_param = _Plain(descriptor.annotation, descriptor.parameter_info)  # noqa: SLF001
    return params


class _Plain:
    """Converts the text of one parameter."""

    def __init__(self, annotation: object, info: Any) -> None:  # noqa: ANN401
        self._number = annotation if annotation in (int, float) else None
        self._min, self._max = getattr(info, "min", None), getattr(info, "max", None)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401
        """Return *value* converted.

        Raises:
            BadParameter: If it is no number in range where one is expected.
        """
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._number is None:
            return list(value) if isinstance(value, tuple) else value
        try:
            number = self._number(value)
        except ValueError:
            what = "a whole number" if self._number is int else "a number"
            raise BadParameter(f"is not {what}", ctx=ctx, param=param) from None
        if self._min is not None and number < self._min:
            raise BadParameter(f"is less than {self._min}", ctx=ctx, param=param)
        if self._max is not None and number > self._max:
            raise BadParameter(f"is more than {self._max}", ctx=ctx, param=param)
        return number

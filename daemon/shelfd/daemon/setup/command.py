"""The command line of ``shelfd setup``."""

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from shelfd.daemon import flags, streams
from shelfd.daemon.places import xdg
from shelfd.daemon.setup import installation, machine, plan, shipped
from shelfd.daemon.setup.installation import UnreachableError
from shelfd.daemon.setup.steps import InstallStep, StepFailedError


def execute(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command and return its exit status."""
    arguments = _parser().parse_args(argv)
    root = Path(arguments.root).absolute() if arguments.root else None
    target = machine.look(root, environ, user=arguments.user)
    try:
        planned = _plan(arguments, environ, target)
    except (UnreachableError, ValueError) as error:
        return _complain(str(error), os.EX_UNAVAILABLE)
    except OSError as error:
        return _complain(f"this installation is incomplete: {error}", os.EX_UNAVAILABLE)
    if not (arguments.dry_run or arguments.user or target.is_tree or target.is_root):
        return _complain("changing the system needs root: sudo shelfd setup …, or --dry-run to look", os.EX_NOPERM)
    return _carry_out(planned, dry_run=arguments.dry_run, is_way_back=arguments.uninstall)


def _parser() -> flags.Parser:
    root = flags.Parser(
        prog="shelfd setup", description="Make the daemon a service of the machine, or of a user.", allow_abbrev=False
    )
    owner = root.add_mutually_exclusive_group(required=True)
    owner.add_argument("--system", action="store_true", help="a service of the machine; needs root")
    owner.add_argument("--user", action="store_true", help="a service of the user who calls this")
    root.add_argument("--dry-run", action="store_true", help="only say what would be done")
    root.add_argument("--uninstall", action="store_true", help="undo it; data and edited files stay")
    root.add_argument(
        "--drop-in", action="append", default=[], choices=shipped.drop_ins(), help="with --system: also this drop-in"
    )
    root.add_argument("--root", metavar="DIR", help="install into a tree of files and start nothing")
    root.add_argument("--command", metavar="PATH", help="the command to start; default: that of this installation")
    return root


def _plan(arguments: Namespace, environ: Mapping[str, str], target: machine.Machine) -> plan.InstallPlan:
    config_home = xdg(environ, "XDG_CONFIG_HOME", ".config")
    data_home = xdg(environ, "XDG_DATA_HOME", ".local/share")
    if arguments.uninstall:
        return plan.remove_user(target, config_home, data_home) if arguments.user else plan.remove_system(target)
    found = installation.named(arguments.command) if arguments.command else installation.running()
    if arguments.user:
        return plan.install_user(target, found.command, config_home, data_home)
    try:
        installation.check_reachable(found)
    except UnreachableError as error:
        raise UnreachableError(installation.explain(error)) from error
    return plan.install_system(target, found.command, arguments.drop_in)


def _carry_out(planned: plan.InstallPlan, *, dry_run: bool, is_way_back: bool) -> int:
    """Do every step. Installing ends at the first that fails; on the way back, the others are no worse for it."""
    failures: list[tuple[str, int]] = []
    for step in planned.steps:
        _print(step.describe())
        failure = None if dry_run else _failure(step)
        if failure is None:
            continue
        if not is_way_back:
            return _complain(*failure)
        failures.append(failure)
    for remark in ["nothing was changed"] if dry_run else planned.remarks:
        _print(remark)
    for message, status in failures:
        _complain(f"this was left undone: {message}", status)
    return failures[0][1] if failures else os.EX_OK


def _failure(step: InstallStep) -> tuple[str, int] | None:
    """Perform *step*; return what went wrong, and the exit status for it."""
    try:
        step.perform()
    except StepFailedError as error:
        return str(error), os.EX_UNAVAILABLE
    except PermissionError as error:
        return f"{error.filename}: {error.strerror}", os.EX_NOPERM
    except OSError as error:
        return f"{error.filename}: {error.strerror}", os.EX_CANTCREAT
    return None


def _print(line: str) -> None:
    # A missing reader is no reason to stop halfway.
    streams.say(line + "\n")


def _complain(message: str, status: int) -> int:
    streams.complain(message)
    return status

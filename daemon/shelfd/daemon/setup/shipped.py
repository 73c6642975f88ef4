"""Finds the files an installation brings along: units and configuration."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]  #: …/shelfd/daemon
_CHECKOUT = _PACKAGE.parents[2]


def directory(component: str, *, checkout: Path = _CHECKOUT, package: Path = _PACKAGE) -> Path:
    """Return where the files of top-level folder *component* are: ``systemd`` or ``config``.

    Beside the code in a checkout, which an editable install is; inside the package in a wheel.
    """
    beside = checkout / component
    # A wheel lies in a site-packages directory, beside which there may be a folder called "config" of anybody's.
    if (checkout / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    return package / "share" / component


def text(component: str, name: str) -> str:
    """Return the content of file *name*.

    Raises:
        OSError: If the installation is incomplete.
    """
    return (directory(component) / name).read_text(encoding="utf-8")


def drop_ins() -> list[str]:
    """Return the names of the drop-ins there are, without their ending."""
    return sorted(path.stem for path in (directory("systemd") / "drop-ins").glob("*.conf"))

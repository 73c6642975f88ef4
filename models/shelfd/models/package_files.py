"""Files of models that come with packages, which are read and never imported."""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


def file_at(path: str, package: str, file: str) -> Path:
    """Return *path*, or if that is empty where a *package* has a *file*, whether it is there or not."""
    if path:
        return Path(path).expanduser()
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0] if places else package) / file


def missing(files: NamedTuple) -> list[str]:
    """Return which of some files are not there, in words."""
    return [f"{name} {file}" for name, file in files._asdict().items() if not file.is_file()]


def checked(file: Path, digest: str) -> bytes:
    """Return what a file holds.

    Raises:
        ValueError: If it is not the file of this SHA-256.
        OSError: If it cannot be read.
    """
    content = file.read_bytes()
    if sha256(content).hexdigest() != digest:
        raise ValueError(f"{file} is another file than the one expected, by its SHA-256")
    return content

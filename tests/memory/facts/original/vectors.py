"""The original's vector functions in float64, number for number.

Nuggets' own generator, keys and decorrelation, kept so that its results can be reproduced and compared. The plain
algebra is the one of :mod:`shelfd.memory.facts.algebra`.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.complex128]  #: vectors of shape (n, d)

_WORD = 0xFFFFFFFF
_TINY = 1e-9
_TINIER = 1e-12


def mulberry32(seed: int) -> Callable[[], float]:
    """Return the generator Mulberry32: each call gives the next number in [0, 1)."""
    state = seed & _WORD

    def draw() -> float:
        nonlocal state
        state = (state + 0x6D2B79F5) & _WORD
        mixed = ((state ^ (state >> 15)) * (state | 1)) & _WORD
        mixed = ((mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61))) ^ mixed) & _WORD
        return (mixed ^ (mixed >> 14)) / 2**32

    return draw


def mulberry32_block(seed: int, count: int) -> npt.NDArray[np.float64]:
    """Return the first *count* numbers of :func:`mulberry32`, computed at once."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x6D2B79F5) + np.uint64(seed & _WORD)
    state = steps.astype(np.uint32)
    mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
    mixed = (mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))) ^ mixed
    return np.asarray((mixed ^ (mixed >> np.uint32(14))) / 2**32)


def seed_from_name(name: str) -> int:
    """Return the first four UTF-8 bytes of *name* as a little-endian number: "proj" and "project" are the same."""
    return int.from_bytes(name.encode()[:4].ljust(4, b"\0"), "little")


def vocabulary_keys(uniform: npt.NDArray[np.float64], count: int, dimension: int) -> Rows:
    """Return *count* phasors whose angles are the first numbers of *uniform*, row by row, times 2 pi."""
    angles = 2 * np.pi * uniform[: count * dimension].reshape(count, dimension)
    return np.asarray(np.cos(angles) + 1j * np.sin(angles))


def role_keys(dimension: int, count: int) -> Rows:
    """Return the first *count* rows of the DFT matrix: orthogonal, row 0 all ones, repeating after *dimension*."""
    angles = 2 * np.pi * np.outer(np.arange(count), np.arange(dimension)) / dimension
    return np.asarray(np.cos(angles) + 1j * np.sin(angles))


def orthogonalise(keys: Rows, iterations: int = 1, step: float = 0.4) -> Rows:
    """Return *keys* made less alike, as the published version does it; the same object if *iterations* <= 0.

    Rows are taken as real vectors, a share of their weighted sum is subtracted, and each element becomes a unit phase
    at the end. As rows shrink to length 1 in the first iteration, later ones change next to nothing.
    """
    if iterations <= 0 or not len(keys):
        return keys
    dimension = keys.shape[1]
    rows = _real(keys)
    for _ in range(iterations):
        gram = rows @ rows.T
        np.fill_diagonal(gram, 0)
        rows = rows - (step / (2 * dimension)) * (gram @ rows)
        rows = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + _TINY)
    return _unit_phases(rows[:, :dimension] + 1j * rows[:, dimension:])


def orthogonalise_jacobi(keys: Rows, iterations: int = 1, step: float = 0.4) -> Rows:
    """Return *keys* made less alike, as the fork does it: all pairs at once, unit phases after each iteration."""
    if iterations <= 0 or not len(keys):
        return keys
    for _ in range(iterations):
        cosines = _real(keys) @ _real(keys).T / keys.shape[1]
        np.fill_diagonal(cosines, 0)
        cosines[np.abs(cosines) < _TINY] = 0
        keys = _unit_phases(keys - step * (cosines @ keys))
    return keys


def sharpen(vector: Rows, power: float = 1.0) -> Rows:
    """Return *vector* with its moduli raised to *power*; the same object at 1."""
    if power == 1:
        return vector
    return np.asarray(vector * (np.abs(vector) + _TINIER) ** (power - 1))


def corvacs(vector: Rows, strength: float = 0.0) -> Rows:
    """Return *vector* with its moduli squashed by tanh(strength * modulus); the same object at 0 and below."""
    if strength <= 0:
        return vector
    modulus = np.abs(vector)
    return np.asarray(vector * (np.tanh(strength * modulus) / (modulus + _TINIER)))


def softmax(scores: npt.NDArray[np.float64], temperature: float) -> npt.NDArray[np.float64]:
    """Return probabilities of *scores*; higher temperatures make them more alike."""
    raised = np.exp((scores - scores.max()) / max(temperature, 1e-6))
    return np.asarray(raised / (raised.sum() + _TINIER))


def unit_rows(vectors: Rows) -> npt.NDArray[np.float64]:
    """Return *vectors*, shape (n, d), as real rows of shape (n, 2d) and length 1."""
    rows = _real(vectors)
    return np.asarray(rows / (np.linalg.norm(rows, axis=1, keepdims=True) + _TINIER))


def _real(vectors: Rows) -> npt.NDArray[np.float64]:
    return np.concatenate([vectors.real, vectors.imag], axis=1)


def _unit_phases(vectors: Rows) -> Rows:
    return np.asarray(np.exp(1j * np.angle(vectors)))

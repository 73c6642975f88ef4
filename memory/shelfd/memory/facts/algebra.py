"""The algebra of Fourier holographic reduced representations (FHRR) on numpy arrays.

A *phasor* is a vector of complex numbers of modulus 1; only the angles say something. Two of them are *bound* by
adding their angles, which gives a phasor like neither, and unbound by subtracting; several are *superposed* by adding
the numbers, which gives a vector like each. Random phasors of d elements are nearly orthogonal: their similarity has
mean 0 and standard deviation 1/sqrt(2d), so a superposition can be asked what is in it.

Two forms are used. As numbers: complex arrays of shape (..., d); every function here takes any complex dtype and keeps
it. As *phases*: uint8 arrays of shape (..., d), an angle being phase * 2 pi / 256; an eighth of the memory, and binding
is an addition that wraps by itself.

Sources: T. A. Plate, "Holographic Reduced Representation" (CSLI, 2003), chapter on circular vectors; E. P. Frady,
D. Kleyko, F. T. Sommer, "A theory of sequence indexing and working memory in recurrent neural networks" (Neural
Computation, 2018) for what a superposition holds.
"""

import hashlib

import numpy as np
import numpy.typing as npt

Phases = npt.NDArray[np.uint8]  #: angles in 256ths of a turn
Vector = npt.NDArray[np.complexfloating]  #: complex numbers, phasors or superpositions of such
Weights = npt.NDArray[np.floating]

_TURN = 256
_CACHED = 8192  #: texts whose phases are kept; of 1024 elements each, that is 8 MiB
_TINY = 1e-9

_ANGLES = np.arange(_TURN) * (2 * np.pi / _TURN)
_NUMBERS = np.exp(1j * _ANGLES).astype(np.complex64)

#: Real and imaginary part for each of the 256 angles, times 31, rounded: shape (256, 2). Sums of whole numbers can be
#: taken apart again without error. Some 250,000 of these fit 16 bits before they wrap, and wrapping is undone as well.
WHOLE_NUMBERS = np.rint(31 * np.stack([_NUMBERS.real, _NUMBERS.imag], axis=1)).astype(np.int16)


def phasor(phases: Phases) -> npt.NDArray[np.complex64]:
    """Return the numbers of *phases*, same shape."""
    return np.asarray(np.take(_NUMBERS, phases))


def bind(a: Vector, b: Vector) -> Vector:
    """Return *a* bound to *b*: their product, element by element. Commutes, associates, and ones bind to no effect."""
    return np.asarray(a * b)


def unbind(bound: Vector, a: Vector) -> Vector:
    """Return what *a* was bound to in *bound*; exact when *a* is a phasor, and linear in *bound*."""
    return np.asarray(bound * a.conj())


def bind_phases(a: Phases, b: Phases) -> Phases:
    """Return the phases of *a* bound to *b*: their sum, modulo a turn."""
    return np.add(a, b)


def superpose(vectors: Vector, weights: Weights | None = None) -> Vector:
    """Return the weighted sum of *vectors*, shape (n, d), as one of shape (d,); n = 0 gives zeros."""
    if weights is None:
        return np.asarray(vectors.sum(axis=0))
    return np.asarray(weights.astype(vectors.real.dtype) @ vectors)


def norm(vector: Vector) -> npt.NDArray[np.floating]:
    """Return the length of *vector*, per row, where a phasor's length is 1 whatever its d."""
    squares = vector.real**2 + vector.imag**2
    return np.asarray(np.sqrt(squares.mean(axis=-1)))


def similarity(a: Vector, b: Vector) -> npt.NDArray[np.floating]:
    """Return the cosine of *a* and *b* in [-1, 1]; 0 if one of them is zero.

    Args:
        a: Shape (d,) or (n, d).
        b: Shape (d,).

    Returns:
        A number, or n of them.
    """
    lengths = norm(a) * norm(b)
    dots = (a.real @ b.real + a.imag @ b.imag) / b.shape[-1]
    return np.asarray(np.where(lengths > _TINY, dots / np.where(lengths > _TINY, lengths, 1), 0))


def clean_up(noisy: Vector, known: Vector) -> tuple[int, float]:
    """Return which of the *known* vectors, shape (n, d) with n > 0, is most like *noisy*, and how much."""
    similarities = similarity(known, noisy)
    best = int(np.argmax(similarities))
    return best, float(similarities[best])


class Phasors:
    """The item memory of one role: each text has its own random phasor of *dimension* elements.

    Texts that differ in anything have unrelated phasors, and so has the same text in another role: a word, a key and a
    value that are spelt alike are three things. The hash is SHAKE-128, whose output begins the same at every length, so
    a phasor of 1024 elements is the first half of the one of 2048.
    """

    __slots__ = ("_cache", "_prefix", "dimension")

    def __init__(self, role: str, dimension: int) -> None:
        self.dimension = dimension
        self._prefix = role.encode() + b"\0"
        self._cache: dict[str, Phases] = {}

    def phases(self, text: str) -> Phases:
        """Return the phases of *text*, shape (dimension,); read-only."""
        known = self._cache.get(text)
        if known is None:
            if len(self._cache) >= _CACHED:
                self._cache.clear()  # what is still wanted is soon drawn again; a queue would cost every hit
            known = self._cache[text] = self.drawn(text)
        return known

    def drawn(self, text: str) -> Phases:
        """Return the phases of *text* without caching them, for texts that are hardly needed again."""
        seed = self._prefix + text.encode("utf-8", "surrogatepass")
        return np.frombuffer(hashlib.shake_128(seed).digest(self.dimension), dtype=np.uint8)

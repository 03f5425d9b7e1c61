"""What a loader returns: the arrays, and where they came from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Dataset", "FileRecord", "Provenance"]


@dataclass(frozen=True)
class FileRecord:
    """One raw file as it was used.

    Attributes
    ----------
    path : str
        Name of the file inside the cache or a mirror, for example ``"usps/zip.train.gz"``.
    source : str
        Where it was found this time: ``"cache"``, ``"mirror"``, ``"public"``, ``"wheel"``,
        ``"debian"`` or ``"user"``.
    origin : str
        Address or path it was first taken from.
    sha256 : str
        Hash of the bytes that were read.
    size : int
        Bytes.
    note : str
        How the values differ from the reference file; empty if they do not.
    """

    path: str
    source: str
    origin: str
    sha256: str
    size: int
    note: str = ""


@dataclass(frozen=True)
class Provenance:
    """Where a data set came from and on what terms.

    Attributes
    ----------
    kind : str
        ``"real"``, ``"synthetic"`` or ``"user"``.
    files : tuple of FileRecord
        The raw files read; empty for synthetic data.
    terms : str
        Terms of use as far as the publisher states them.
    note : str
        What a reader of results must know: rounding, a calibrated stand-in, a partial database.
    generator : str or None
        Name of the generating function for synthetic data.
    parameters : mapping
        Loader options in force, the seed of a generator among them.
    """

    kind: str
    files: tuple[FileRecord, ...] = ()
    terms: str = ""
    note: str = ""
    generator: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Sources used, in words: ``"cache"``, ``"mirror"``, ``"generator"``, ..."""
        if self.generator is not None:
            return "generator"
        return "+".join(sorted({record.source for record in self.files}))

    @property
    def sha256(self) -> dict[str, str]:
        """Hash of every raw file, by its name in the cache."""
        return {record.path: record.sha256 for record in self.files}

    def as_record(self) -> dict[str, Any]:
        """Return a plain dictionary fit for a results file: no path of this machine is in it."""
        return {
            "kind": self.kind,
            "source": self.source,
            "sha256": self.sha256,
            "terms": self.terms,
            "note": self.note,
            "generator": self.generator,
            "parameters": {key: value for key, value in self.parameters.items() if key != "path"},
        }


@dataclass(frozen=True, eq=False)
class Dataset:
    """Arrays of one data set.

    Attributes
    ----------
    name : str
        Name it was loaded by.
    X : ndarray of shape (n_samples, n_features)
        Samples; the training part where the data set has a split of its own.
    y : ndarray of shape (n_samples,) or None
        Labels or targets.
    X_test, y_test : ndarray or None
        The test part, where there is one.
    feature_names : tuple of str
        One name per column of `X`.
    provenance : Provenance
        Source, hashes, terms, and the generator and seed of synthetic data.
    image_shape : tuple of int or None
        ``X[i].reshape(image_shape)`` is a picture, if rows are pictures.
    pixel_range : tuple of float or None
        Smallest and largest value a pixel can have, if rows are pictures.
    """

    name: str
    X: np.ndarray
    y: np.ndarray | None = None
    X_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    feature_names: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=lambda: Provenance(kind="user"))
    image_shape: tuple[int, ...] | None = None
    pixel_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for part, X, y in (("X", self.X, self.y), ("X_test", self.X_test, self.y_test)):
            if X is None:
                if y is not None:
                    raise ValueError(f"{self.name}: labels without {part}")
                continue
            if X.ndim != 2:
                raise ValueError(f"{self.name}: {part} has {X.ndim} dimensions instead of 2")
            if X.shape[1] != len(self.feature_names):
                raise ValueError(
                    f"{self.name}: {part} has {X.shape[1]} columns and "
                    f"{len(self.feature_names)} feature names"
                )
            if y is not None and len(y) != len(X):
                raise ValueError(f"{self.name}: {len(y)} labels for {len(X)} rows of {part}")

    def __repr__(self) -> str:
        parts = [f"X={self.X.shape}"]
        if self.X_test is not None:
            parts.append(f"X_test={self.X_test.shape}")
        return f"Dataset({self.name!r}, {', '.join(parts)}, source={self.provenance.source!r})"

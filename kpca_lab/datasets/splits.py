"""Divisions into training and held-out rows, the same for every method.

The rows depend on the data set, the number of the split and its purpose, and on nothing else:
not on the method, the order of runs, or a global random state.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kpca_lab.datasets.catalogue import entry_of
from kpca_lab.datasets.real import IDA_BENCHMARKS, read_ida
from kpca_lab.datasets.seeds import derive_rng

__all__ = ["Protocol", "Split", "iter_splits", "protocol_of", "rows_held_out", "split"]


@dataclass(frozen=True)
class Protocol:
    """How a data set is divided.

    Attributes
    ----------
    kind : {"random", "published"}
        Drawn from a derived seed, or the index lists that come with the data.
    n_samples : int or None
        Rows there are to divide; None if only the loaded data tell.
    n_held_out : int or None
        Rows held out; None if `held_out` gives a share instead.
    held_out : float or None
        Share of the rows held out.
    n_splits : int
        Number of repetitions in the paper.
    """

    kind: str
    n_splits: int
    n_samples: int | None = None
    n_held_out: int | None = None
    held_out: float | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """Zero-based row numbers of one division.

    Attributes
    ----------
    train, held_out : ndarray of int
        Row numbers, in increasing order for random splits. Those of published splits may
        repeat: see the IDA benchmarks.
    number : int
        Which of the repetitions, from 1.
    """

    train: np.ndarray
    held_out: np.ndarray
    number: int


# Washizawa (2012), Sections 6.3 and 6.4; Chin and Suter (2006), Section 6, whose 760 test images
# of 5760 become the same share of whatever part of the database is there.
_PROTOCOLS = {
    "concrete": Protocol("random", 50, n_samples=1030, held_out=0.1),
    "housing": Protocol("random", 50, n_samples=506, held_out=0.1),
    "tic": Protocol("random", 50, n_samples=9822, held_out=0.1),
    "usps": Protocol("random", 100, n_samples=7291, n_held_out=729),
    "yaleb": Protocol("random", 1, held_out=760 / 5760),
}
DEFAULT_SHARE = 0.1
_DEFAULT = Protocol("random", 50, held_out=DEFAULT_SHARE)


def protocol_of(name: str) -> Protocol:
    """Return the protocol of a data set; 90/10 at random, 50 times, where no paper gives one.

    Parameters
    ----------
    name : str
        One of `list_datasets`.

    Returns
    -------
    Protocol
    """
    entry_of(name)
    if name.startswith("ida/"):
        return Protocol("published", IDA_BENCHMARKS[name.removeprefix("ida/")])
    return _PROTOCOLS.get(name, _DEFAULT)


def split(
    name: str,
    number: int,
    *,
    n_samples: int | None = None,
    n_held_out: int | None = None,
    purpose: str = "validation",
) -> Split:
    """Return one division of a data set.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    number : int
        Which of the repetitions, from 1: for IDA benchmarks the realisation.
    n_samples : int, optional
        Rows there are, where that is not known beforehand or a part of the data is divided.
    n_held_out : int, optional
        Rows to hold out instead of the protocol's share.
    purpose : str, default="validation"
        What the split is for; another purpose draws other rows. Ignored for IDA benchmarks.

    Returns
    -------
    Split

    Examples
    --------
    >>> from kpca_lab.datasets import split
    >>> first = split("usps", 1)
    >>> len(first.train), len(first.held_out)
    (6562, 729)
    """
    protocol = protocol_of(name)
    if isinstance(number, bool) or int(number) != number or number < 1:
        raise ValueError(f"the number of a split is a whole number from 1, not {number!r}")
    number = int(number)
    if protocol.kind == "published":
        return _published(name, number, protocol, n_samples, n_held_out)
    total = protocol.n_samples if n_samples is None else n_samples
    if total is None:
        raise ValueError(f"{name}: give the number of rows, n_samples=")
    if n_held_out is None:
        n_held_out = rows_held_out(name, total)
    if not 1 <= n_held_out < total:
        raise ValueError(f"{name}: cannot hold out {n_held_out} of {total} rows")
    order = derive_rng(name, number, "split", purpose).permutation(int(total))
    return Split(np.sort(order[n_held_out:]), np.sort(order[:n_held_out]), number)


def rows_held_out(name: str, n_samples: int) -> int:
    """Rows that the protocol of a data set holds out of some; its share of them, if they are not all."""
    protocol = protocol_of(name)
    if protocol.n_held_out is not None and n_samples == protocol.n_samples:
        return protocol.n_held_out
    share = DEFAULT_SHARE if protocol.held_out is None else protocol.held_out
    return round(share * n_samples)


def _published(
    name: str, number: int, protocol: Protocol, n_samples: int | None, n_held_out: int | None
) -> Split:
    if n_samples is not None or n_held_out is not None:
        raise ValueError(f"{name} has splits of its own, whose sizes cannot be chosen")
    if number > protocol.n_splits:
        raise ValueError(f"{name} has {protocol.n_splits} realisations, so there is no {number}")
    arrays, _ = read_ida(name.removeprefix("ida/"))
    train, test = (np.array(arrays[part][number - 1], dtype=np.intp) for part in ("train", "test"))
    return Split(train, test, number)


def iter_splits(name: str, n_splits: int | None = None, **options: Any) -> Iterator[Split]:
    """Yield the divisions of a data set in order.

    Parameters
    ----------
    name : str
        One of `list_datasets`.
    n_splits : int, optional
        How many; by default as many as the paper has.
    **options
        As for `split`.

    Yields
    ------
    Split
    """
    for number in range(1, (protocol_of(name).n_splits if n_splits is None else n_splits) + 1):
        yield split(name, number, **options)

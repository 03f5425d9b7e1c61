"""The figures of a profile: each is drawn by the function that its item registered, and written."""

import io
import multiprocessing
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from kpca_lab.choices import unknown
from kpca_lab.suite.cores import available_cores
from kpca_lab.suite.engine.store import Store
from kpca_lab.suite.files import write_atomically
from kpca_lab.suite.judge.records import with_parameters
from kpca_lab.suite.papers import load_experiments
from kpca_lab.suite.render import style

__all__ = ["Written", "save", "write_figures"]

PNG_DPI = 200
COLORS = 256


@dataclass
class Written:
    """What `write_figures` did.

    Attributes
    ----------
    written : list of Path
        The files, two for each figure.
    skipped : dict
        Item to the reason why it has no figure.
    failed : dict
        Item to its error, one line.
    """

    written: list[Path] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def write_figures(profile_dir, only=None, *, makers=None, workers=None) -> Written:
    """Draw the registered figures from the records of a profile.

    The figure of the item ``<paper>/<name>`` is written to ``figures/<paper>/<name>.png`` and ``.pdf``; where
    the registered function gives a dict of figures, its keys are the names of the files in that folder. An
    item without records is skipped; one that fails is reported, with its traceback on the standard error,
    and the others are drawn all the same.

    Parameters
    ----------
    profile_dir : path
        Such as ``results/quick``.
    only : str or sequence of str, optional
        Items (``"<paper>/figure3"``) or papers (``"<paper>"``) to draw; all by default.
    makers : dict, optional
        Item to ``function(records, arrays)``, for tests; the registered ones by default.
    workers : int, optional
        Processes that draw, as many as cores by default.

    Returns
    -------
    Written
    """
    if makers is None:
        makers = load_experiments().figure_makers
    result, chosen = Written(), _chosen(makers, only)
    draw = partial(_draw, Path(profile_dir), {item: makers[item] for item in chosen})
    workers = min(workers or available_cores(), len(chosen))
    # Forked processes need neither imports of their own nor functions that can be pickled.
    if workers > 1 and "fork" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(workers, context, initializer=_remember, initargs=(draw,)) as pool:
            outcomes = list(pool.map(_draw_remembered, chosen))
    else:
        outcomes = map(draw, chosen)
    for item, (written, skipped, failed, trace) in zip(chosen, outcomes):
        result.written += written
        if skipped:
            result.skipped[item] = skipped
        if failed:
            result.failed[item] = failed
            print(f"The figure {item} failed:\n{trace}", file=sys.stderr)
    return result


def _draw(profile_dir, makers, item):
    """Files written, reason to skip the item, its error in a line, its traceback."""
    store = Store(profile_dir.parent, profile_dir.name)
    records = with_parameters(store.records(item))
    if records.empty:
        return [], "no records: run the experiment first", "", ""
    written = []
    try:
        drawn = makers[item](records, store.arrays(item))
        for path, figure in _named(item, drawn).items():
            written += save(figure, profile_dir / "figures" / path)
    except Exception as error:  # whatever goes wrong in one figure must not cost the others
        return written, "", f"{type(error).__name__}: {error}".splitlines()[0], traceback.format_exc()
    return written, "", "", ""


def _remember(draw):
    global _remembered
    _remembered = draw


def _draw_remembered(item):
    return _remembered(item)


def _chosen(makers, only) -> list[str]:
    if only is None:
        return sorted(makers)
    wanted = [only] if isinstance(only, str) else list(only)
    chosen = [item for item in sorted(makers) if any(item == w or item.startswith(f"{w}/") for w in wanted)]
    strange = [w for w in wanted if not any(item == w or item.startswith(f"{w}/") for item in makers)]
    if strange:
        raise ValueError(unknown("figure", strange[0], sorted(makers)))
    return chosen


def _named(item, drawn) -> dict[str, Figure]:
    """Path without suffix to figure."""
    if isinstance(drawn, Figure):
        return {item: drawn}
    if isinstance(drawn, dict) and drawn and all(isinstance(figure, Figure) for figure in drawn.values()):
        paper = item.split("/")[0]
        return {f"{paper}/{name}": figure for name, figure in drawn.items()}
    raise TypeError(f"The function of {item} gave {type(drawn).__name__}, not a Figure or a dict of Figures.")


def save(fig, path_without_suffix) -> list[Path]:
    """Write a figure as PNG (200 dpi) and PDF (vector, fonts embedded).

    Each file is written under another name first and then renamed, and holds no dates: the same figure
    gives the same bytes.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    path_without_suffix : path
        Missing folders are made.

    Returns
    -------
    list of Path
        The two files.
    """
    target = Path(path_without_suffix)
    metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None, "Creator": None}}
    written = []
    engine = fig.get_layout_engine()
    if engine is not None:  # placed once for both files, which is most of the work
        with style.context():
            engine.execute(fig)
            fig.set_layout_engine(None)  # "none" would leave an engine, for which savefig draws twice
    for suffix, entries in metadata.items():
        content = io.BytesIO()
        with style.context():
            fig.savefig(content, format=suffix, dpi=PNG_DPI, metadata=entries)
        written.append(target.parent / f"{target.name}.{suffix}")
        write_atomically(written[-1], _with_palette(content) if suffix == "png" else content.getvalue())
    return written


def _with_palette(content):
    """A PNG in 256 colours, which takes a third of the room; greys stay as they are."""
    smaller = io.BytesIO()
    with Image.open(content) as picture:
        flat = picture.convert("RGB")
        flat.quantize(COLORS, dither=Image.Dither.NONE).save(
            smaller, "png", optimize=True, dpi=(PNG_DPI,) * 2
        )
    return smaller.getvalue()

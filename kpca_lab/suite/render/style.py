"""How every figure of the project looks: one colour, marker and line per method, one line per selector.

Any two of the fourteen colours differ by at least 16 units of CIE 1976 colour difference, for normal vision
and for the three kinds of colour blindness (a test computes it); markers and line styles repeat the
distinction, so that a grey print is readable too.
"""

import re
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps

import matplotlib as mpl
from matplotlib.figure import Figure

COLUMN_WIDTH = 3.4  # inches: one column of a two-column page
NOTE_LETTERS = 19.5  # of a note, in an inch
TEXT_WIDTH = 7.0  # inches: the whole width of the page


@dataclass(frozen=True)
class MethodStyle:
    """The label (the papers' abbreviation), colour, marker and line style of a method."""

    label: str
    color: str
    marker: str | tuple[int, int, int]
    line: object = "-"


METHODS = {
    "full": MethodStyle("FKp", "#000000", "."),
    "subset": MethodStyle("SubKp", "#D55E00", "o"),
    "reduced": MethodStyle("RKp", "#0072B2", "s", "--"),
    "improved": MethodStyle("IKp", "#56B4E9", "^", "-."),
    "tipping": MethodStyle("SpKp", "#AA55FF", "P", (0, (5, 1, 1, 1))),
    "nystrom": MethodStyle("Nys", "#009E73", "D", ":"),
    "cholesky": MethodStyle("ICD", "#CC79A7", "v", (0, (6, 2))),
    "hebbian": MethodStyle("KHA-SMD", "#E69F00", "X", (0, (3, 1, 1, 1, 1, 1))),
    "apca": MethodStyle("APCA", "#88BB66", "<", "--"),
    "akpca": MethodStyle("AKPCA", "#661100", ">", "-."),
    "incremental": MethodStyle("IncKPCA", "#AA5533", "h", (0, (5, 1))),
    "elastic_net": MethodStyle("SKPCA", "#440088", "*", (0, (4, 1, 1, 1))),
    "empirical_map": MethodStyle("EKM", "#5500FF", "p", (0, (2, 1))),
    "pca": MethodStyle("PCA", "#663355", "d", (0, (1, 1))),
}
_ALIASES = {
    "icd": "cholesky",
    "sparse": "tipping",
    "kha": "hebbian",
    "clafic": "pca",
    "linear": "pca",
    "linearpca": "pca",
    "skpca": "elastic_net",
    "exact": "full",
    "batch": "full",
}
# For methods that are not of the project (filters of the denoising tables, those a user adds): peers, which
# stand side by side, have a place; others are chosen by the name, since the order changes between figures.
_PEERS = {
    "sklearn_nystroem": ("#5F5F5F", (4, 1, 0)),
    "sklearn_kernel_pca": ("#8C8C8C", (4, 1, 45)),
    "random_features": ("#3D3D3D", (3, 1, 0)),
    "orthogonal_features": ("#B0B0B0", (3, 1, 60)),
}
_OTHER_COLORS = ("#5F5F5F", "#8C8C8C", "#3D3D3D", "#B0B0B0")
_OTHER_MARKERS = ("1", "2", "3", "4", "+", "x")
# For what is no method (data sets, classes, residuals): none of these is the colour of a method.
_PLAIN = (
    ("#004488", "o", "-"),
    ("#DDAA33", "s", "--"),
    ("#BB5566", "^", "-."),
    ("#117733", "D", ":"),
    ("#33BBEE", "v", (0, (5, 1, 1, 1))),
    ("#777777", "P", (0, (5, 1))),
    ("#332288", "X", (0, (1, 1))),
    ("#882255", "*", (0, (3, 1, 1, 1, 1, 1))),
)


@dataclass(frozen=True)
class SelectorStyle:
    """The label, line style and marker filling of a selector."""

    label: str
    line: object
    fill: str


SELECTORS = {
    "random": SelectorStyle("Rand", "-", "full"),
    "kmeans": SelectorStyle("Clus", "--", "none"),
    "kmeans_centroids": SelectorStyle("Centr", (0, (5, 1, 1, 1)), "none"),
    "kernel_kmeans": SelectorStyle("KClus", (0, (5, 1)), "bottom"),
    "forward": SelectorStyle("Forw", ":", "left"),
    "backward": SelectorStyle("Backw", "-.", "right"),
    "forward_backward": SelectorStyle("ForwBackw", (0, (3, 1, 1, 1)), "top"),
    "ransac": SelectorStyle("RANSAC", (0, (1, 2)), "left"),
    "rpcholesky": SelectorStyle("RPChol", (0, (8, 1, 1, 1)), "right"),
    "leverage": SelectorStyle("Lev", (0, (4, 2, 1, 2)), "bottom"),
    "bless": SelectorStyle("BLESS", (0, (2, 2)), "top"),
    "greedy": SelectorStyle("Greedy", (0, (1, 1)), "left"),
    "dsquared": SelectorStyle("$D^2$", (0, (7, 2)), "bottom"),
    "farthest": SelectorStyle("Far", (0, (3, 3)), "right"),
    "support": SelectorStyle("points of SKPCA", (0, (6, 1, 1, 1, 1, 1)), "top"),
}

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib, so figures are the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "figure.titlesize": 9,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.8,
    "lines.markeredgewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 2.3,
    "legend.columnspacing": 1.2,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "pdf.fonttype": 42,  # embed the fonts as text that can be searched and edited
    "image.cmap": "cividis",
}


@contextmanager
def context():
    """The settings of the figures, within a ``with`` block."""
    with mpl.rc_context(RC):
        yield


def styled(function):
    """Run a plotting function with the settings of the figures."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        with context():
            return function(*args, **kwargs)

    return wrapper


def new_figure(width=TEXT_WIDTH, height=3.0) -> Figure:
    """A figure with constrained layout that no global state of pyplot knows of (so it needs no closing)."""
    return Figure(figsize=(width, height), layout="constrained")


def with_note(figure: Figure, text: str) -> Figure:
    """The figure with small lines of text on top, for which it grows; as it was if the text is empty."""
    if text:
        lines = textwrap.wrap(text, int(NOTE_LETTERS * figure.get_figwidth()))
        figure.set_figheight(figure.get_figheight() + 0.13 + 0.12 * len(lines))
        figure.suptitle("\n".join(lines), fontsize=7)
    return figure


def canonical(method) -> str:
    """The project's name of a method, given that name, an estimator's name or a usual abbreviation."""
    name = str(method).strip()
    key = re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).lower()
    key = re.sub(r"_?kpca$", "", key) if key not in METHODS and key not in _ALIASES else key
    return _ALIASES.get(key, key)


def method_style(method) -> MethodStyle:
    """The style of a method; one that is not of the project gets a grey and a marker fixed by its name."""
    name = canonical(method)
    if name in METHODS:
        return METHODS[name]
    if name in _PEERS:
        return MethodStyle(str(method), *_PEERS[name])
    number = sum(ord(letter) * (place + 1) for place, letter in enumerate(name))
    color = _OTHER_COLORS[number % len(_OTHER_COLORS)]
    return MethodStyle(str(method), color, _OTHER_MARKERS[number % len(_OTHER_MARKERS)], "-")


def has_selector(selector) -> bool:
    """Whether a cell of the column ``selector`` names one (it is empty for methods without a basis)."""
    return selector is not None and selector == selector and str(selector) not in ("", "none", "None", "nan")


def line(method, selector=None) -> dict:
    """Keyword arguments of ``Axes.plot``: colour and marker of the method, line and filling of the selector.

    Without a selector, the method's own line style is used.
    """
    chosen = method_style(method)
    options = {"color": chosen.color, "marker": chosen.marker, "linestyle": chosen.line}
    if has_selector(selector) and selector in SELECTORS:
        variant = SELECTORS[selector]
        options |= {"linestyle": variant.line, "fillstyle": variant.fill, "markerfacecoloralt": "white"}
    return options


def plain_line(place) -> dict:
    """Keyword arguments of ``Axes.plot`` for the line number ``place`` of those that are no methods."""
    color, marker, dashes = _PLAIN[place % len(_PLAIN)]
    return {"color": color, "marker": marker, "linestyle": dashes}

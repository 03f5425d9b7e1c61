"""Time and peak memory over the number of samples, each fit in a process of its own."""

import math

import pandas as pd

from scripts.bench import samples
from scripts.bench.clock import in_child
from scripts.bench.rows import Row, exponent, failed

GROUP = "growth"
SHAPE = {"d": 50, "gamma": samples.GAMMA_MIXTURE, "r": 20, "m": 500}
ARPACK = "scikit-learn KernelPCA, arpack"
RANDOMIZED = "scikit-learn KernelPCA, randomized"
NYSTROEM = "scikit-learn Nystroem + PCA"
FOURIER = "scikit-learn RBFSampler + PCA"
EXACT_SIZES = (1000, 2000, 4000, 8000)
SIZES = (4000, 16_000, 64_000, 256_000, 1_000_000)
DISK = 10_000_000


def measure(quick: bool) -> tuple[list[Row], pd.DataFrame]:
    """Exponents and memory as rows, and all measurements."""
    largest = {way: 4000 if quick else 8000 for way in ("FullKPCA", ARPACK, RANDOMIZED)}
    largest |= dict.fromkeys((NYSTROEM, FOURIER), 64_000 if quick else 256_000)
    largest["SubsetKPCA"] = 64_000 if quick else 1_000_000
    records = []
    for way, most in largest.items():
        for n in EXACT_SIZES if most <= 8000 else SIZES:
            if n <= most:
                found = in_child(300, way=way, n=n, **SHAPE)
                records.append({"method": way, "n": n, **SHAPE, **_values(found)})
    if not quick:
        found = in_child(400, way="SubsetKPCA", n=DISK, work="fit from disk", **SHAPE)
        records.append({"method": "SubsetKPCA, from disk", "n": DISK, **SHAPE, **_values(found)})
    table = pd.DataFrame(records)
    return _rows(table), table


def _values(found: dict) -> dict:
    return {
        "seconds": found.get("seconds", math.nan),
        "mebibytes": found.get("mebibytes", math.nan),
        "note": found.get("problem", ""),
    }


def _rows(table: pd.DataFrame) -> list[Row]:
    rows = []
    pairs = (
        ("FullKPCA", ARPACK),
        ("FullKPCA", RANDOMIZED),
        ("SubsetKPCA", NYSTROEM),
        ("SubsetKPCA", FOURIER),
    )
    for ours, peer in pairs:
        both = [table[(table["method"] == way) & (table["note"] == "")] for way in (ours, peer)]
        common = sorted(set(both[0]["n"]) & set(both[1]["n"]))
        if not common:
            rows.append(failed(GROUP, "fit", peer, "not measured", ours))
            continue
        n = common[-1]
        at = [own[own["n"] == n].iloc[0] for own in both]
        case = f"n = {n}, d = {SHAPE['d']}, r = {SHAPE['r']}" + (", m = 500" if ours == "SubsetKPCA" else "")
        rows.append(Row(GROUP, f"fit, {case}", ours, peer, at[0].seconds, at[1].seconds, note=_note(*both)))
        rows.append(
            Row(GROUP, f"peak memory of fit above the data, {case}", ours, peer, at[0].mebibytes,
                at[1].mebibytes, "MiB")
        )  # fmt: skip
    own = table[table["method"].str.startswith("SubsetKPCA") & (table["note"] == "") & (table["n"] >= 16_000)]
    if len(own) > 1:
        rows.append(
            Row(GROUP, f"exponent of n in the time of fit, n = {own['n'].min()} to {own['n'].max()}",
                "SubsetKPCA", "linear growth", exponent(own["n"].tolist(), own["seconds"].tolist()), 1.0, "",
                aim="<= 1.02", note=f"peak memory above the data at most {own['mebibytes'].max():.0f} MiB")
        )  # fmt: skip
    return rows


def _note(ours: pd.DataFrame, peer: pd.DataFrame) -> str:
    """The exponents, where there are sizes enough."""
    slopes = [
        exponent(own["n"].tolist()[-3:], own["seconds"].tolist()[-3:]) if len(own) > 2 else math.nan
        for own in (ours, peer)
    ]
    if any(map(math.isnan, slopes)):
        return ""
    return f"time grows with n to the power of {slopes[0]:.2f} (ours), {slopes[1]:.2f} (peer)"

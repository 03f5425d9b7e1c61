"""``kpca-lab plan``: what fitting SubsetKPCA to so many rows on so many workers takes, before it is begun.

The speeds are measured on this machine in a few seconds, see :mod:`kpca_lab.cost_model`.
"""

import argparse
import sys

from kpca_lab.cost_model import Plan, Speeds, calibrate, plan

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Measure, predict, print; return the exit code."""
    chosen = _parser().parse_args(arguments)
    shape = (chosen.features, chosen.basis, chosen.components)
    try:
        plan(chosen.rows, *shape, n_workers=chosen.workers, speeds=Speeds(1, 1, 1, 1, 1, 1))  # refuses
        speeds = calibrate(*shape)
        found = plan(
            chosen.rows,
            *shape,
            n_workers=chosen.workers,
            chunk_bytes=round(chosen.chunk * 1e6),
            bandwidth=chosen.bandwidth * 1e9,
            speeds=speeds,
        )
    except (ValueError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_told(chosen, speeds, found))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kpca-lab plan", description=__doc__)
    parser.add_argument("--rows", type=_count, required=True, metavar="N", help="samples, such as 1e9")
    parser.add_argument("--features", type=_count, required=True, metavar="D", help="columns of the samples")
    parser.add_argument("--basis", type=_count, default=500, metavar="M", help="basis samples (500)")
    parser.add_argument("--components", type=_count, default=10, metavar="R", help="how many (10)")
    parser.add_argument("--workers", type=_count, default=1, metavar="W", help="of one thread each (1)")
    parser.add_argument("--chunk", type=float, default=128, metavar="MB", help="size of a chunk (128)")
    parser.add_argument(
        "--bandwidth",
        type=float,
        default=1.25,
        metavar="GB/S",
        help="of each worker (1.25)",
    )
    return parser


def _count(text: str) -> int:
    try:
        value = float(text)
        if value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"a whole number is needed, such as 5000 or 1e9, not {text!r}")


def _told(chosen: argparse.Namespace, speeds: Speeds, found: Plan) -> str:
    steps = ", ".join(f"{name} {_time(seconds)}" for name, seconds in found.seconds.items() if seconds)
    lines = {
        "fit": f"{chosen.rows} rows x {chosen.features} features, {chosen.basis} basis samples, "
        f"{chosen.components} components, {chosen.workers} worker{'s' * (chosen.workers > 1)}",
        "speed": f"{speeds.products / 1e9:.3g} Gflop/s products, {speeds.sums / 1e9:.3g} Gflop/s sums, "
        f"{speeds.exponentials / 1e9:.2g} G/s exponentials: one thread of this machine",
        "time": f"{_time(found.total_seconds)}: {steps}",
        "processor": f"{_time(found.cpu_seconds)} in all",
        "memory": f"{_bytes(found.worker_bytes)} a worker, {_bytes(found.client_bytes)} the client",
        "traffic": f"{_bytes(found.read_bytes)} read, {_bytes(found.sent_bytes)} sent in {found.n_messages} "
        f"messages; {found.n_parts} part{'s' * (found.n_parts > 1)}",
    }
    return "\n".join(f"{name:10}{text}" for name, text in lines.items())


def _time(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"


def _bytes(size: int) -> str:
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB")):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size / 1000:.3g} kB"

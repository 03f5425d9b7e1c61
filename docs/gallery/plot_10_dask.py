"""
The same fit on a cluster
=========================

A Dask array is fitted where its chunks are. Here the cluster is two processes of this machine; on a
real one only the address changes. Each task sums up some chunks over the basis, the sums are merged,
and what is solved at the end does not depend on the number of rows.
"""

import time

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from kpca_lab import SubsetKPCA
from kpca_lab.distributed import transform


def chunk(block_info=None):
    """Rows around a ring, made where they are needed."""
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    angle = rng.uniform(0, 2 * np.pi, stop - start)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.15 * rng.standard_normal((stop - start, 2))


# %%
# Once with one worker and once with two: the order of summation follows from the chunks, not from
# the workers, so the eigenvalues agree to the last bit. (Processes that are started by a script
# import it, hence the guard.)

if __name__ == "__main__":
    X = da.map_blocks(chunk, chunks=((10_000,) * 24, (2,)), dtype=float, meta=np.empty((0, 2)))
    fits, streams, edges = {}, {}, np.linspace(-0.9, 0.9, 91)
    with LocalCluster(n_workers=1, threads_per_worker=1) as cluster, Client(cluster) as client:
        client.get_task_stream()  # from here on tasks are recorded
        for n_workers in (1, 2):
            cluster.scale(n_workers)
            client.wait_for_workers(n_workers)
            started = time.time()
            fits[n_workers] = SubsetKPCA(6, gamma=2.0, n_basis=100, random_state=0).fit(X)
            streams[n_workers] = client.get_task_stream(start=started)
        scores = transform(fits[2], X)
        counts = da.histogram2d(scores[:, 0], scores[:, 1], bins=(edges, edges))[0].compute()
    assert np.array_equal(fits[1].eigenvalues_, fits[2].eigenvalues_)
    print(f"{len(X)} rows; the error is at most {fits[2].gap_bound_:.2%} above the best possible")

# %%
# Which worker was busy when, and the first two components of all rows, counted on the cluster.

if __name__ == "__main__":
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=(3, 2))
    names = {1: ["one worker"], 2: ["the first of two", "the second of two"]}
    for n_workers, stream in streams.items():
        sums = [task for task in stream if str(task["key"]).startswith("_part")]
        zero = min(task["startstops"][0]["start"] for task in sums)
        for label, worker in zip(names[n_workers], sorted({task["worker"] for task in sums})):
            spans = [span for task in sums if task["worker"] == worker for span in task["startstops"]]
            busy = [(span["start"] - zero, span["stop"] - span["start"]) for span in spans]
            height = list(streams).index(n_workers) + names[n_workers].index(label)
            left.broken_barh(busy, (height - 0.35, 0.7), color=f"C{n_workers - 1}", edgecolor="white")
    left.set_yticks(range(3), names[1] + names[2])
    left.set(xlabel="seconds since the first task", title="The tasks that sum up chunks", ylim=(2.6, -0.6))
    right.pcolormesh(edges, edges, counts.T, cmap="magma_r")
    right.set(xlabel="first component", ylabel="second component", title="All rows", aspect="equal")
    right.set(xticks=(-0.5, 0, 0.5), yticks=(-0.5, 0, 0.5))
    plt.show()

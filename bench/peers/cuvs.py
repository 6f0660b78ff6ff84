#!/usr/bin/env python3
"""k-means of NVIDIA's cuVS, for CUDA devices.

Needs the packages cuvs (cuvs-cu12 or cuvs-cu13) and cupy. `kmeans.fit` returns no labels:
`kmeans.predict` assigns the samples to the final centroids and is timed separately.
"""

import pathlib
import sys

from program import Answer, Timer, run, version_of

NAME = "cuvs"
# This file has the name of the package, which `import cuvs` must find instead.
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))


def describe():
    import importlib.metadata

    try:
        version = version_of("cuvs-cu13", "cuvs")
    except importlib.metadata.PackageNotFoundError:
        version = version_of("cuvs-cu12", "cuvs")
    import cupy


    description = {"name": NAME, "version": version, "algorithm": "lloyd",
                   "summary": "cuVS: NVIDIA's GPU library", "accuracy": "float32",
                   "reproducibility": "none", "dtypes": ["float32", "float64"], "parameters": []}
    try:
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        description["devices"] = [properties["name"].decode()]
    except cupy.cuda.runtime.CUDARuntimeError:
        description["unavailable"] = "CuPy sees no CUDA device"
    return description


class Session:
    def __init__(self, samples, parameters):
        import cupy

        self.samples = cupy.asarray(samples)

    def fit(self, fit):
        import cupy
        from cuvs.cluster import kmeans

        if not fit.fixed_iterations:
            raise NotImplementedError("cuVS stops by a tolerance of its own: use stop.iterations")
        if fit.empty_clusters == "error":
            raise NotImplementedError("cuVS does not report empty clusters: use empty_clusters: keep")
        start = cupy.asarray(fit.centroids, self.samples.dtype)
        # Smaller than any shift but 0: only a fit that has converged may stop early.
        parameters = kmeans.KMeansParams(init_method="Array", n_clusters=fit.clusters,
                                         max_iter=fit.max_iterations, tol=1e-30)
        cupy.cuda.Device().synchronize()
        with Timer() as timer:
            centroids, _, iterations = kmeans.fit(parameters, self.samples, start)
            cupy.cuda.Device().synchronize()
        with Timer() as closing:
            labels, _ = kmeans.predict(parameters, self.samples, centroids)
            cupy.cuda.Device().synchronize()
        return Answer(cupy.asnumpy(cupy.asarray(centroids)).astype("float64"),
                      cupy.asnumpy(cupy.asarray(labels)).astype("int32"), int(iterations), timer.ms,
                      closing.ms)


if __name__ == "__main__":
    run(describe, Session)

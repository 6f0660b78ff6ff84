"""flash-kmeans (svg-project/flash-kmeans), Triton kernels for CUDA devices.

Its labels belong to the centroids before the last update; those of the final ones take one more
assignment, which is timed separately. The squared norms of the samples, computed once a fit, are in its
time. The first fits of a shape compile kernels.
"""

from program import Answer, Timer


class Session:
    def __init__(self, samples, dtype):
        import numpy
        import torch

        self.samples = torch.from_numpy(numpy.array(samples, numpy.float32)).to("cuda", dtype)[None]

    def fit(self, fit):
        import torch
        from flash_kmeans import batch_kmeans_Euclid
        from flash_kmeans.assign_euclid_triton import euclid_assign_triton

        if not fit.fixed_iterations:
            raise NotImplementedError(
                "flash-kmeans tests shifts of one centroid: use stop.iterations")
        start = torch.from_numpy(fit.centroids).to("cuda", self.samples.dtype)[None]
        torch.cuda.synchronize()
        with Timer() as timer:
            _, centroids, iterations = batch_kmeans_Euclid(
                self.samples, fit.clusters, max_iters=fit.max_iterations, init_centroids=start)
            torch.cuda.synchronize()
        with Timer() as closing:
            squares = (self.samples.float() ** 2).sum(-1).to(self.samples.dtype)
            labels = euclid_assign_triton(self.samples, centroids, squares)
            torch.cuda.synchronize()
        return Answer(centroids[0].double().cpu().numpy(), labels[0].cpu().numpy(), iterations,
                      timer.ms, closing.ms, evaluates_all=True)


def description(name, accuracy, dtype):
    import flash_kmeans
    import triton  # noqa: F401: without it the package falls back silently

    return {"name": name, "version": flash_kmeans.__version__, "algorithm": "lloyd",
            "summary": f"flash-kmeans: Triton kernels, {dtype} products",
            "accuracy": accuracy, "reproducibility": "none", "dtypes": ["float32"],
            "parameters": []}

#!/usr/bin/env python3
"""A Lloyd iteration of a few lines of PyTorch, as its users write it: products and index_add."""

from program import Answer, Timer, choice, in_best_environment, run, thread_count, threads_parameter

NAME = "pytorch"
in_best_environment(OPENBLAS_CORETYPE=None, OMP_WAIT_POLICY=None)


def describe():
    import torch

    return {"name": NAME, "version": torch.__version__, "algorithm": "lloyd",
            "summary": "PyTorch: products in chunks, argmin, index_add",
            "accuracy": "float32", "reproducibility": "none", "dtypes": ["float32"],
            "parameters": [choice("device", ["cpu", "cuda"], "where tensors are"),
                           threads_parameter()]}


class Session:
    def __init__(self, samples, parameters):
        import numpy
        import torch

        if parameters["device"] == "cuda" and not torch.cuda.is_available():
            raise NotImplementedError("PyTorch sees no CUDA device")
        torch.set_num_threads(thread_count(parameters))
        torch.backends.cuda.matmul.allow_tf32 = False
        self.cuda = parameters["device"] == "cuda"
        self.samples = torch.from_numpy(numpy.array(samples, numpy.float32)).to(
            parameters["device"])

    def nearest(self, block, centroids, squares):
        import torch

        return torch.addmm(squares, block, centroids.t(), alpha=-2).argmin(1)

    def iterate(self, centroids):
        import torch

        n, k = len(self.samples), len(centroids)
        rows = max(1, min(n, 2**28 // k))
        sums = torch.zeros_like(centroids)
        counts = torch.zeros(k, device=centroids.device)
        squares = (centroids * centroids).sum(1)
        for begin in range(0, n, rows):
            block = self.samples[begin:begin + rows]
            labels = self.nearest(block, centroids, squares)
            sums.index_add_(0, labels, block)
            counts += torch.bincount(labels, minlength=k)
        means = sums / counts.clamp(min=1)[:, None]
        return torch.where(counts[:, None] > 0, means, centroids)

    def labels(self, centroids):
        import torch

        squares = (centroids * centroids).sum(1)
        rows = max(1, 2**28 // len(centroids))
        return torch.cat([self.nearest(self.samples[begin:begin + rows], centroids, squares)
                          for begin in range(0, len(self.samples), rows)])

    def wait(self):
        import torch

        if self.cuda:
            torch.cuda.synchronize()

    def fit(self, fit):
        import torch

        if not fit.fixed_iterations:
            raise NotImplementedError("this loop has no stopping test: use stop.iterations")
        centroids = torch.from_numpy(fit.centroids).float().to(self.samples.device)
        self.wait()
        with Timer() as timer:
            for _ in range(fit.max_iterations):
                centroids = self.iterate(centroids)
            self.wait()
        with Timer() as closing:
            labels = self.labels(centroids)
            self.wait()
        return Answer(centroids.cpu().numpy(), labels.cpu().numpy(), fit.max_iterations, timer.ms,
                      closing.ms, evaluates_all=True)


if __name__ == "__main__":
    run(describe, Session, ["torch"])

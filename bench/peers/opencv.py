#!/usr/bin/env python3
"""OpenCV's kmeans.

It starts from labels, those of the initial centroids, whose computation is not timed. Its last iteration
computes distances but no labels; those take one more assignment, which is timed separately.
"""

from program import Answer, Timer, in_best_environment, run, thread_count, threads_parameter

NAME = "opencv"
# Threads of numpy's products would compete with those of OpenCV.
in_best_environment(OPENBLAS_CORETYPE=None, OMP_WAIT_POLICY=None, OPENBLAS_NUM_THREADS="1")


def describe():
    import cv2

    return {"name": NAME, "version": cv2.__version__, "algorithm": "lloyd",
            "summary": "OpenCV's kmeans: distances by the definition, threads",
            "accuracy": "float32", "reproducibility": "none", "dtypes": ["float32"],
            "parameters": [threads_parameter()]}


def nearest(samples, centroids):
    """Labels by the definition's expansion, in float64."""
    import numpy

    labels = numpy.empty(len(samples), numpy.int32)
    squares = (centroids * centroids).sum(axis=1)
    rows = max(1, 2**22 // len(centroids))
    for begin in range(0, len(samples), rows):
        block = samples[begin:begin + rows].astype(numpy.float64)
        labels[begin:begin + rows] = (squares - 2 * block @ centroids.T).argmin(axis=1)
    return labels


class Session:
    def __init__(self, samples, parameters):
        import cv2
        import numpy

        self.samples = numpy.ascontiguousarray(samples, numpy.float32)
        if cv2.getNumThreads() != thread_count(parameters):  # it would start its threads anew
            cv2.setNumThreads(thread_count(parameters))

    def fit(self, fit):
        import cv2
        import numpy

        if not fit.fixed_iterations:
            raise NotImplementedError("OpenCV tests shifts of one centroid: use stop.iterations")
        start = nearest(self.samples, fit.centroids).reshape(-1, 1)
        if fit.max_iterations == 1:
            return self.one_iteration(fit, start[:, 0])
        criteria = (cv2.TERM_CRITERIA_MAX_ITER, fit.max_iterations, 0)
        with Timer() as timer:
            _, _, centroids = cv2.kmeans(self.samples, fit.clusters, start, criteria, 1,
                                         cv2.KMEANS_USE_INITIAL_LABELS)
        with Timer() as closing:
            labels = nearest(self.samples, centroids.astype(numpy.float64))
        return Answer(centroids, labels, fit.max_iterations, timer.ms, closing.ms,
                      evaluates_all=True)

    def one_iteration(self, fit, labels):
        """One iteration by numpy, since OpenCV runs at least two. Its time says nothing about OpenCV."""
        import numpy

        centroids = fit.centroids.copy()
        with Timer() as timer:
            for c in numpy.unique(labels):
                centroids[c] = self.samples[labels == c].mean(axis=0, dtype=numpy.float64)
        return Answer(centroids, nearest(self.samples, centroids), 1, timer.ms,
                      notes="one iteration by numpy", evaluates_all=True)


if __name__ == "__main__":
    run(describe, Session, ["cv2"])

#!/usr/bin/env python3
"""scikit-learn's KMeans.

Its time has a copy of the data, centring, and one assignment more than iterations.
"""

from program import (PROCESSORS, Answer, Timer, choice, in_best_environment, run, thread_count,
                     threads_parameter, version_of)

NAME = "scikit-learn"
# Some shells preset OPENBLAS_CORETYPE, which halves the speed of products; threads that wander make
# it bimodal. Without OMP_NUM_THREADS it takes as many as processors that the main thread may use,
# which is one as soon as it is bound.
in_best_environment(OPENBLAS_CORETYPE=None, OMP_WAIT_POLICY=None, OMP_PROC_BIND="true",
                    OMP_PLACES="cores", OMP_NUM_THREADS=str(PROCESSORS))


def describe():
    version_of("threadpoolctl", "threadpoolctl")
    return {"name": NAME, "version": version_of("scikit-learn", "sklearn"), "algorithm": "lloyd",
            "summary": "scikit-learn's KMeans: products of blocks, OpenMP",
            "accuracy": "float32", "reproducibility": "none",
            "dtypes": ["float32", "float64"],
            "parameters": [choice("algorithm", ["lloyd", "elkan"], "of KMeans"),
                           threads_parameter()]}


class Session:
    def __init__(self, samples, parameters):
        import numpy

        self.samples = numpy.array(samples)
        self.algorithm = parameters["algorithm"]
        self.threads = thread_count(parameters)

    def relative_tolerance(self, tolerance):
        import numpy

        mean_variance = float(self.samples.var(axis=0, dtype=numpy.float64).mean())
        return tolerance / mean_variance if mean_variance > 0 else 0

    def fit(self, fit):
        import warnings

        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        # It may stop before max_iterations when no label changes, which changes no result.
        tolerance = 0 if fit.fixed_iterations else self.relative_tolerance(fit.tolerance)
        model = KMeans(fit.clusters, init=fit.centroids.astype(self.samples.dtype), n_init=1,
                       max_iter=fit.max_iterations, algorithm=self.algorithm,
                       tol=tolerance)
        with warnings.catch_warnings(), threadpool_limits(self.threads):
            warnings.simplefilter("ignore")  # of fits that have not converged
            with Timer() as timer:
                model.fit(self.samples)
        return Answer(model.cluster_centers_, model.labels_, model.n_iter_, timer.ms,
                      converged=model.n_iter_ < fit.max_iterations, evaluates_all=self.algorithm == "lloyd")


if __name__ == "__main__":
    run(describe, Session, ["sklearn.cluster", "threadpoolctl"])

"""faiss.Clustering over a flat index, for FAISS on the CPU and on the GPU.

Labels of the final centroids take one more search, which is timed separately.
"""

from program import Answer, Timer, thread_count


class Session:
    def __init__(self, samples, parameters, make_index):
        import faiss
        import numpy

        self.samples = numpy.ascontiguousarray(samples, numpy.float32)
        self.make_index = make_index
        faiss.omp_set_num_threads(thread_count(parameters))

    def fit(self, fit):
        import faiss
        import numpy

        if not fit.fixed_iterations:
            raise NotImplementedError("FAISS runs a fixed number of iterations: use stop.iterations")
        n, d = self.samples.shape
        parameters = faiss.ClusteringParameters()
        parameters.niter = fit.max_iterations
        parameters.nredo = 1
        parameters.min_points_per_centroid = 1
        parameters.max_points_per_centroid = n  # no sample is left out
        clustering = faiss.Clustering(d, fit.clusters, parameters)
        start = numpy.ascontiguousarray(fit.centroids, numpy.float32)
        faiss.copy_array_to_vector(start.ravel(), clustering.centroids)
        index = self.make_index(d)
        with Timer() as timer:
            clustering.train(self.samples, index)
        centroids = faiss.vector_to_array(clustering.centroids).reshape(fit.clusters, d)
        with Timer() as closing:
            labels = index.search(self.samples, 1)[1][:, 0]
        return Answer(centroids, labels, fit.max_iterations, timer.ms, closing.ms,
                      evaluates_all=True)

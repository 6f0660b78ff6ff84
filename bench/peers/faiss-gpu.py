#!/usr/bin/env python3
"""FAISS on a GPU. Samples are copied to it in every iteration, as Clustering does."""

from faiss_adapter import Session
from program import integer, run, threads_parameter

NAME = "faiss-gpu"


def describe():
    import faiss

    if not hasattr(faiss, "StandardGpuResources"):
        raise ImportError("this faiss is built without GPU support")
    description = {"name": NAME, "version": faiss.__version__, "algorithm": "lloyd",
                   "summary": "FAISS on a GPU: products of blocks",
                   "accuracy": "float32", "reproducibility": "none", "dtypes": ["float32"],
                   "parameters": [integer("device", 0, 0, 15, "index of the GPU"),
                                  threads_parameter()]}
    if faiss.get_num_gpus() == 0:
        description["unavailable"] = "FAISS sees no GPU"
    return description


def open_session(samples, parameters):
    import faiss

    resources = faiss.StandardGpuResources()
    config = faiss.GpuIndexFlatConfig()
    config.device = parameters["device"]
    return Session(samples, parameters, lambda d: faiss.GpuIndexFlatL2(resources, d, config))


if __name__ == "__main__":
    run(describe, open_session)

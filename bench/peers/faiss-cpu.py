#!/usr/bin/env python3
"""FAISS on the CPU."""

from faiss_adapter import Session
from program import in_best_environment, run, threads_parameter

NAME = "faiss-cpu"
in_best_environment(OPENBLAS_CORETYPE=None, OMP_WAIT_POLICY=None, OMP_PROC_BIND="true",
                    OMP_PLACES="cores")


def describe():
    import faiss

    return {"name": NAME, "version": faiss.__version__, "algorithm": "lloyd",
            "summary": "FAISS on the CPU: products of blocks, OpenMP",
            "accuracy": "float32", "reproducibility": "none", "dtypes": ["float32"],
            "parameters": [threads_parameter()]}


def open_session(samples, parameters):
    import faiss

    return Session(samples, parameters, faiss.IndexFlatL2)


if __name__ == "__main__":
    run(describe, open_session, ["faiss"])

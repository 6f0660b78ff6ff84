#!/usr/bin/env python3
"""flash-kmeans with FP16 products."""

from flash_kmeans_adapter import Session, description
from program import run
from torch_device import needs_cuda

NAME = "flash-kmeans-half"


def describe():
    return needs_cuda(description(NAME, "half", "FP16"))


def open_session(samples, parameters):
    import torch

    return Session(samples, torch.float16)


if __name__ == "__main__":
    run(describe, open_session)

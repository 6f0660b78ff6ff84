#!/usr/bin/env python3
"""flash-kmeans with TF32 products."""

from flash_kmeans_adapter import Session, description
from program import run
from torch_device import needs_cuda

NAME = "flash-kmeans-tf32"


def describe():
    return needs_cuda(description(NAME, "tf32", "TF32"))


def open_session(samples, parameters):
    import torch

    return Session(samples, torch.float32)


if __name__ == "__main__":
    run(describe, open_session)

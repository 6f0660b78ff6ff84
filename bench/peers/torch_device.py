"""What the programs over PyTorch share."""


def needs_cuda(description):
    """The description, unavailable where PyTorch sees no CUDA device."""
    import torch

    if torch.cuda.is_available():
        description["devices"] = [torch.cuda.get_device_name()]
    else:
        description["unavailable"] = "PyTorch sees no CUDA device"
    return description

// distributed_fit

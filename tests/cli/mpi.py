"""Runs programs with mpirun, whose path is in LLOYD_MPIEXEC (empty in builds without MPI)."""

import os
import subprocess

MPIEXEC = os.environ.get("LLOYD_MPIEXEC", "")
# Open MPI: allow root, more ranks than processors, and containers.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMP_WAIT_POLICY": "passive"}


def mpirun_command(ranks, command):
    return [MPIEXEC, "-n", str(ranks), *command]


def run_launched(command):
    """Runs a command of mpirun; returns its status, output and the program's own messages."""
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300,
                          stdin=subprocess.DEVNULL)
    own = [line for line in done.stderr.splitlines() if line.startswith("lloyd: ")]
    return done.returncode, done.stdout, own

"""Runs programs with mpirun, whose path is in LLOYD_MPIEXEC (empty in builds without MPI)."""

import os
import subprocess
import tempfile

MPIEXEC = os.environ.get("LLOYD_MPIEXEC", "")
# For Open MPI and MPICH; each ignores the other's variables.
# Open MPI: allow root, more ranks than processors, and containers; look for no ssh. Version 5 reads PRTE_*.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_plm": "isolated", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "self,sysv",  # MPICH: no shared files, because tests limit the size of files
    "OMP_WAIT_POLICY": "passive",
    "MALLOC_PERTURB_": "0",  # mpirun reads memory that it has not written, and crashes at times
}
if not os.access("/dev/shm", os.W_OK):  # Open MPI's shared memory is there by default
    ENVIRONMENT["OMPI_MCA_btl_vader_backing_directory"] = tempfile.gettempdir()


def mpirun_command(ranks, command):
    return [MPIEXEC, "-n", str(ranks), *command]


def run_launched(command):
    """Runs a command of mpirun; returns its status, output and the program's own messages."""
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300,
                          stdin=subprocess.DEVNULL)
    own = [line for line in done.stderr.splitlines() if line.startswith("lloyd: ")]
    return done.returncode, done.stdout, own

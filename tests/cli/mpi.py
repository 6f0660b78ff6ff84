"""Runs programs with mpirun, whose path is in LLOYD_MPIEXEC (empty in builds without MPI)."""

import os
import pathlib
import subprocess
import tempfile

MPIEXEC = os.environ.get("LLOYD_MPIEXEC", "")
# For Open MPI and MPICH; each ignores the other's variables.
# Open MPI: allow root, more ranks than processors, and containers; need no ssh. Version 5 reads PRTE_*.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_plm_rsh_agent": "/bin/true", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "self,sysv",  # MPICH: no shared files, because tests limit the size of files
    "RES_OPTIONS": "timeout:1 attempts:1",  # mpirun looks up the name of the host, also where no name service answers
    "OMP_WAIT_POLICY": "passive",
    "MALLOC_PERTURB_": "0",  # mpirun reads memory that it has not written, and crashes at times
}
if not os.access("/dev/shm", os.W_OK):  # Open MPI's shared memory is there by default
    ENVIRONMENT["OMPI_MCA_btl_vader_backing_directory"] = tempfile.gettempdir()


def mpirun_command(ranks, command):
    return [MPIEXEC, "-n", str(ranks), *command]


def is_hydra():
    """True if the launcher is that of MPICH."""
    done = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    return "hydra" in done.stdout.lower()


def run_launched(command):
    """Runs a command of mpirun; returns its status, output and the program's own messages."""
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300,
                          stdin=subprocess.DEVNULL)
    own = [line for line in done.stderr.splitlines() if line.startswith("lloyd: ")]
    return done.returncode, done.stdout, own


def rank_of(pid):
    """The rank that the launcher gave to a process: Open MPI's variable first, then MPICH's; "" if it has none."""
    try:
        pairs = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    environment = dict(pair.partition("=")[::2] for pair in pairs)
    return environment.get("OMPI_COMM_WORLD_RANK") or environment.get("PMI_RANK", "")


def used_time(pid):
    """The processor time of a process in seconds; 0 if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

// The communicator plugin for MPI: joins the processes that mpirun or srun started.
#include <lloyd/mpi_communicator.hpp>
#include <lloyd/plugin/abi/communicator_plugin.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

namespace lloyd {
namespace {

void initialize_mpi() {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    throw StatusError(StatusCode::unavailable, "MPI_Init_thread failed");
  }
  // Open MPI reports errors of non-blocking operations to the handler of MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (provided < MPI_THREAD_SERIALIZED) {
    throw StatusError(StatusCode::unavailable,
                      "the MPI library does not support MPI_THREAD_SERIALIZED");
  }
}

Status join(Communicator** communicator) noexcept {
  return guarded([&] {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0) initialize_mpi();
    *communicator = new MpiCommunicator(
        MPI_COMM_WORLD, initialized == 0 ? MpiOwnership::owned : MpiOwnership::borrowed);
  });
}

}  // namespace
}  // namespace lloyd

// The variables are set by Open MPI's mpirun, by MPICH and its derivatives, and by Slurm's srun.
extern "C" __attribute__((visibility("default"), used, section(LLOYD_COMMUNICATOR_SECTION)))
const lloyd::CommunicatorDescriptor lloyd_communicator = {
    lloyd::make_communicator_header(LLOYD_PLUGIN_NAME, LLOYD_PLUGIN_VERSION,
                                    "OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS"),
    &lloyd::join};

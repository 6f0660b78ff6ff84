#include "unit/support/run_ranks.hpp"

#include <mpi.h>

#include <lloyd/mpi_communicator.hpp>

namespace lloyd {

void run_ranks(int size, const std::function<void(std::shared_ptr<Communicator>)>& body) {
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (processes != size) return;
  const std::shared_ptr<Communicator> communicator = mpi_communicator(MPI_COMM_WORLD);
  communicator->set_timeout(60);
  body(communicator);
}

}  // namespace lloyd

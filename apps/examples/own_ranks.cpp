// Fits one data set that is spread over the processes of an MPI program. Start it with
//   mpirun -n 4 ./own_ranks
#include <mpi.h>

#include <cstdio>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/mpi_communicator.hpp>

void fit_together(MPI_Comm comm) {
  const auto ranks = lloyd::mpi_communicator(comm);
  // Each rank passes its own rows; this example generates them.
  const auto seed = static_cast<std::uint64_t>(ranks->rank());
  const lloyd::Dataset mine = lloyd::make_blobs({.samples = 20000, .features = 4, .seed = seed});
  const lloyd::Dataset part = lloyd::Dataset::part("points", mine.matrix(), ranks);
  const lloyd::Fit fit = lloyd::kmeans(part, 8);  // labels: of these rows
  if (ranks->rank() == 0) {
    std::printf("ranks %d: %lld samples, inertia %.0f\n", ranks->size(),
                static_cast<long long>(fit.samples), fit.inertia);
  }
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  fit_together(MPI_COMM_WORLD);
  MPI_Finalize();
}

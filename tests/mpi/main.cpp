// Runs tests as one rank of several. A rank whose test has failed may have left the others waiting,
// so it ends all of them.
#include <mpi.h>

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  // Open MPI's shared memory is there by default.
  if (::access("/dev/shm", W_OK) != 0) {
    ::setenv("OMPI_MCA_btl_vader_backing_directory", std::filesystem::temp_directory_path().c_str(),
             0);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return 0;
}

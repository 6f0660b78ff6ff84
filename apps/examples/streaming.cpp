// Clusters a file that is larger than the memory to be used: its rows are read in blocks, in every
// pass. The result has the same bits as that of a fit in memory.
#include <cstdio>
#include <filesystem>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/kmeans.hpp>

lloyd::Fit fit_in_blocks(const std::filesystem::path& file, std::int64_t k) {
  constexpr std::int64_t kRows = 4096;  // rows per block; two blocks are in memory at a time
  const lloyd::Dataset points(lloyd::open_rows(file), kRows);
  return lloyd::kmeans(points, k, {.block_rows = kRows});
}

int main() {
  const lloyd::Dataset points = lloyd::make_blobs({.samples = 50000, .features = 4});
  lloyd::write_dataset("points.npy", points);
  const lloyd::Fit streamed = fit_in_blocks("points.npy", 8);
  const bool same = streamed.centroids == lloyd::kmeans(points, 8).centroids;
  std::printf("inertia %.0f, %s as in memory\n", streamed.inertia, same ? "the same" : "not");
}

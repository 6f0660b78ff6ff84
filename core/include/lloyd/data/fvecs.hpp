// .fvecs and .bvecs files, the formats of vector-search benchmarks.
#pragma once

#include <filesystem>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads a file of rows, each of which is the count d, a little-endian int32, and d values; d must
/// be the same in all rows. Values are float32 in .fvecs and uint8 in .bvecs files (returned as
/// float32). An .fvecs file is memory-mapped, so that the matrix has a stride of d + 1; it must not
/// be truncated or changed in place while the matrix lives. Throws InputError that names the file
/// and the defect. Source: INRIA, "Datasets for approximate nearest neighbor search",
/// corpus-texmex.
Matrix read_fvecs(const std::filesystem::path& file);

}  // namespace lloyd

// .fvecs and .bvecs files, in which vector search keeps its data sets.
#pragma once

#include <filesystem>

#include <lloyd/dataset.hpp>

namespace lloyd {

/// Reads rows that are each a count d, a little-endian int32, and d values, with one d for all:
/// float32 in a file whose extension is .fvecs, uint8 (given as float32) in a .bvecs file. An
/// .fvecs file stays where it is, memory-mapped, so that the matrix has a stride of d + 1; it must
/// not be cut or changed in place while the matrix lives. Throws InputError with the file and what
/// is wrong. Source: INRIA, "Datasets for approximate nearest neighbor search", corpus-texmex.
Matrix read_fvecs(const std::filesystem::path& file);

}  // namespace lloyd

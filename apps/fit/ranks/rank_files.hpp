// Files that several ranks read and write together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/internal/ranks.hpp>

#include "output/delivery.hpp"

namespace lloyd::apps {

/// The rows of one rank: a contiguous range. Ranges differ by at most one row, and lower ranks have
/// the longer ones.
RowRange rows_of_rank(std::int64_t samples, int rank, int size);

/// Reads these rows of a source into memory; calls Ranks::progress() meanwhile. Not collective.
/// Throws as RowSource::read() does, and Cancelled once interrupted().
Matrix read_rows(const RowSource& source, RowRange rows, const Ranks& ranks);

/// Writes the labels of all ranks, in the order of ranks, to one file, .npy or .csv by its
/// extension; collective. Rank 0 creates the file, which must be visible to all ranks; the others
/// may pass an empty path. Throws on all ranks if one of them cannot write.
void write_rank_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                       const Ranks& ranks);

/// As write_rank_labels(), but if the file cannot be written, rank 0 tries the other places of
/// Delivery::write(). Only the path of rank 0 is used.
void deliver_rank_labels(const std::filesystem::path& file, std::span<const std::int32_t> labels,
                         const Ranks& ranks, Delivery& delivery);

/// Throws on all ranks unless all or none write labels; collective. `file` is empty if this rank
/// writes none.
void require_same_labels(const std::string& file, const Ranks& ranks);

}  // namespace lloyd::apps

// Seeding option: the name of a method, or a file of centroids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/seeding.hpp>

namespace lloyd::apps {

/// Sets method and centroids of `seeding`. `text`: "k-means++", "k-means||", "random", "first" or
/// the name of a data file with k rows or of a model with k clusters. `memory`: bytes of the whole
/// process while the file is read; not set: its usable memory. Returns the file's feature names, if
/// any. Throws InputError for an unknown method or an invalid file.
std::vector<std::string> parse_seeding_option(const std::string& text, std::int64_t k,
                                              std::optional<std::uint64_t> memory,
                                              Seeding& seeding);

}  // namespace lloyd::apps

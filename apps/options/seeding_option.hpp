// The seeding as one word: a method, or a file of centroids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/seeding.hpp>

namespace lloyd::apps {

/// Sets method and centroids of `seeding` from "k-means++", "k-means||", "random", "first" or the
/// name of a data file with k rows, for which the process may use `memory` bytes (not set: what the
/// machine lets it use). Returns the file's feature names, if any. Throws InputError for
/// an unknown word or a bad file.
std::vector<std::string> parse_seeding_option(const std::string& text, std::int64_t k,
                                              std::optional<std::uint64_t> memory,
                                              Seeding& seeding);

}  // namespace lloyd::apps

#include "options/seeding_option.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "options/centroids_file.hpp"

namespace lloyd::apps {

std::vector<std::string> parse_seeding_option(const std::string& text, std::int64_t k,
                                              std::optional<std::uint64_t> memory,
                                              Seeding& seeding) {
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random,
        SeedingMethod::first}) {
    if (text == to_string(method)) {
      seeding.method = method;
      return {};
    }
  }
  if (!std::filesystem::path(text).has_extension()) {
    throw InputError(fmt::format("--seeding is '{}', neither a method nor a data file{}", text,
                                 suggestion(text, {"k-means++", "k-means||", "random", "first"})));
  }
  CentroidsFile read = read_centroids(text, {memory, k});
  seeding.centroids = std::move(read.centroids);
  seeding.method = SeedingMethod::file;
  seeding.file = text;
  return std::move(read.feature_names);
}

}  // namespace lloyd::apps

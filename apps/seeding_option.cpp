#include "seeding_option.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

namespace lloyd::apps {

void parse_seeding_option(const std::string& text, Seeding& seeding) {
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::random, SeedingMethod::first}) {
    if (text == to_string(method)) {
      seeding.method = method;
      return;
    }
  }
  if (!std::filesystem::path(text).has_extension()) {
    throw InputError(fmt::format("--init is '{}', neither a method nor a data file{}", text,
                                 suggestion(text, {"k-means++", "random", "first"})));
  }
  CsvOptions csv;
  csv.dtype = DType::float64;
  const Dataset centroids = read_dataset(text, csv);
  seeding.method = SeedingMethod::file;
  seeding.file = text;
  seeding.centroids.clear();
  for (std::int64_t c = 0; c < centroids.samples(); ++c) {
    for (std::int64_t j = 0; j < centroids.features(); ++j) {
      seeding.centroids.push_back(centroids.matrix().at(c, j));
    }
  }
}

}  // namespace lloyd::apps

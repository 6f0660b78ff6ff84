// Functions that read values of a mapped file which was truncated before the call: InputError
// instead of SIGBUS.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <lloyd/criteria.hpp>
#include <lloyd/data/blobs.hpp>
#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/seeding.hpp>
#include <lloyd/standardize.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

TEST(MappedFile, TruncatedBeforeACallIsAnInputError) {
  constexpr std::int64_t kRows = 20000;
  constexpr std::uintmax_t kBytesLeft = 128;  // the header; values beyond the first page are gone
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "blobs.npy";
  write_dataset(file, make_blobs({.samples = kRows, .features = 4, .centers = 3, .seed = 2}));
  const std::uintmax_t size = std::filesystem::file_size(file);
  const Dataset data = read_dataset(file);
  ASSERT_TRUE(data.matrix().file != nullptr);
  KMeansOptions options;
  options.backend.name = "sequential";
  FitOptions fit_options;
  fit_options.clusters = 3;
  const auto backend = load_backend(options.backend);
  const ParameterSet parameters = backend->default_parameters();
  BackendSession session(backend, data, parameters);
  const Fit result = fit(session, fit_options);
  const Standardization map = Standardization::of(data.statistics());
  Model standardized;
  standardized.clusters = result.clusters;
  standardized.features = result.features;
  standardized.centroids = result.centroids;
  standardized.standardization = map;

  std::filesystem::resize_file(file, kBytesLeft);
  const auto label = [&] {
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    session.label(result.centroids, 3, labels, counts);
  };
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"Dataset", [&] { Dataset("copy", data.matrix()); }},
      {"sample", [&] { data.sample(kRows - 1); }},
      {"compute_fingerprint", [&] { data.compute_fingerprint(); }},
      {"kmeans of a data set", [&] { kmeans(data, 3, options); }},
      {"kmeans of a matrix", [&] { kmeans(data.matrix(), 3, options); }},
      {"BackendSession", [&] { BackendSession(backend, data, parameters); }},
      {"fit", [&] { fit(session, fit_options); }},
      {"fit_from", [&] { session.fit_from(result.centroids, fit_options); }},
      {"label", label},
      {"check", [&] { session.check(result.centroids, result.labels, result.inertia); }},
      {"predict", [&] { result.predict(data.matrix(), options.backend); }},
      {"predict, standardized", [&] { standardized.predict(data.matrix(), options.backend); }},
      {"seed_centroids", [&] { seed_centroids(data, 3, {}); }},
      {"standardize", [&] { standardize(data.matrix(), map); }},
      {"inertia", [&] { inertia(data, result.centroids, result.labels); }},
      {"check_labels", [&] { check_labels(data, result.centroids, result.labels, {}); }},
      {"cluster_criteria", [&] { cluster_criteria(data, result.labels, 3); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(message_of<InputError>(call),
              fmt::format("{}: the file was truncated from {} to {} bytes while it was in use",
                          file.string(), size, kBytesLeft))
        << name;
  }
}

}  // namespace
}  // namespace lloyd

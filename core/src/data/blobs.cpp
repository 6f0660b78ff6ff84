#include <lloyd/data/blobs.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/random.hpp>

namespace lloyd {
namespace {

// Streams of the seed, numbered far from those of other uses ("blob" in ASCII): the same seed may
// serve the seeding of a fit, whose choices must not follow from the data's.
constexpr std::uint64_t kCentreStream = 0x626c'6f62'0000'0000u;
constexpr std::uint64_t kChoiceStream = kCentreStream + 1;
constexpr std::uint64_t kNoiseStream = kCentreStream + 2;

void check_count(const char* key, std::int64_t value) {
  if (value < 1) throw InputError(fmt::format("blobs: {} is {}; at least 1 is needed", key, value));
}

void check_length(const char* key, double value) {
  if (!std::isfinite(value) || value < 0) {
    throw InputError(
        fmt::format("blobs: {} is {}; a finite number that is not negative is needed", key, value));
  }
}

void check_size(const char* key, std::int64_t rows, std::int64_t features, std::int64_t bytes) {
  std::int64_t size = 0;
  if (__builtin_mul_overflow(rows, features, &size) || __builtin_mul_overflow(size, bytes, &size)) {
    throw InputError(
        fmt::format("blobs: {} {} of {} features overflow 64-bit sizes", rows, key, features));
  }
}

std::string name_of(const BlobsSpec& spec) {
  std::string name = fmt::format("blobs(samples={}, features={}, centers={}", spec.samples,
                                 spec.features, spec.centers);
  if (spec.std != BlobsSpec{}.std) name += fmt::format(", std={}", spec.std);
  if (spec.box != BlobsSpec{}.box) name += fmt::format(", box={}", spec.box);
  return name + fmt::format(", seed={})", spec.seed);
}

std::vector<double> draw_centres(const BlobsSpec& spec) {
  const RandomStream stream(spec.seed, kCentreStream);
  std::vector<double> centres(static_cast<std::size_t>(spec.centers * spec.features));
  for (std::size_t i = 0; i < centres.size(); ++i) {
    centres[i] = spec.box * (2 * stream.uniform(i) - 1);
  }
  return centres;
}

template <class T>
Matrix draw_samples(const BlobsSpec& spec) {
  const RandomStream choices(spec.seed, kChoiceStream);
  const RandomStream noise(spec.seed, kNoiseStream);
  const std::vector<double> centres = draw_centres(spec);
  const auto n = static_cast<std::uint64_t>(spec.samples);
  const auto d = static_cast<std::uint64_t>(spec.features);
  const auto k = static_cast<std::uint64_t>(spec.centers);
  std::vector<T> values(n * d);
  for (std::uint64_t i = 0; i < n; ++i) {
    const double* centre = centres.data() + choices.below(k, i) * d;
    for (std::uint64_t j = 0; j < d; ++j) {
      const std::uint64_t index = i * d + j;
      values[index] = static_cast<T>(centre[j] + spec.std * noise.normal(index));
    }
  }
  return Matrix::own(std::move(values), spec.samples, spec.features);
}

}  // namespace

void check_blobs(const BlobsSpec& spec) {
  check_count("samples", spec.samples);
  check_count("features", spec.features);
  check_count("centers", spec.centers);
  check_length("std", spec.std);
  check_length("box", spec.box);
  check_size("samples", spec.samples, spec.features, size_of(spec.dtype));
  check_size("centers", spec.centers, spec.features, size_of(DType::float64));
  constexpr double kLargestNormal = 8.3;  // |inverse_normal(2^-53)| is 8.21
  const bool single = spec.dtype == DType::float32;
  const double limit = single ? static_cast<double>(std::numeric_limits<float>::max())
                              : std::numeric_limits<double>::max();
  if (!(spec.box + kLargestNormal * spec.std <= limit)) {
    throw InputError(fmt::format("blobs: box {} and std {} give values beyond {} (limit {:.3g})",
                                 spec.box, spec.std, single ? "float32" : "float64", limit));
  }
}

Dataset make_blobs(const BlobsSpec& spec) {
  check_blobs(spec);
  return Dataset(name_of(spec), spec.dtype == DType::float32 ? draw_samples<float>(spec)
                                                             : draw_samples<double>(spec));
}

}  // namespace lloyd

#include <lloyd/data/blobs.hpp>

#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/random.hpp>

#include "data/rows/check_rows.hpp"
#include "data/rows/read_all.hpp"
#include "dataset/squared_range.hpp"

namespace lloyd {
namespace {

// Random streams of blobs ("blob" in ASCII), far from those of other uses: the same seed may serve
// the seeding of a fit, whose choices must be independent of the data.
constexpr std::uint64_t kCentreStream = 0x626c'6f62'0000'0000u;
constexpr std::uint64_t kChoiceStream = kCentreStream + 1;
constexpr std::uint64_t kNoiseStream = kCentreStream + 2;

constexpr std::uint64_t kValuesBetweenStops = 1 << 16;  // a few milliseconds

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
  const FloatEnvironment environment;
  const RandomStream stream(spec.seed, kCentreStream);
  std::vector<double> centres(static_cast<std::size_t>(spec.centers * spec.features));
  for (std::size_t i = 0; i < centres.size(); ++i) {
    centres[i] = spec.box * (2 * stream.uniform(i) - 1);
  }
  return centres;
}

// Each value is computed directly from its index, so rows can be generated in any order and on any
// thread.
class BlobsRows : public RowSource {
 public:
  explicit BlobsRows(const BlobsSpec& spec, std::function<bool()> stop = {})
      : spec_(spec), name_(name_of(spec)), stop_(std::move(stop)) {}

  const std::string& name() const override { return name_; }
  std::int64_t samples() const override { return spec_.samples; }
  std::int64_t features() const override { return spec_.features; }
  DType dtype() const override { return spec_.dtype; }

  void read(RowRange rows, void* values) const override {
    check_rows(*this, rows);
    const FloatEnvironment environment;
    // Not before: who writes the rows looks first whether there is space for them.
    std::call_once(centres_drawn_, [this] { centres_ = draw_centres(spec_); });
    if (spec_.dtype == DType::float32) {
      draw(rows, static_cast<float*>(values));
    } else {
      draw(rows, static_cast<double*>(values));
    }
  }

 private:
  template <class T>
  void draw(RowRange rows, T* values) const {
    const RandomStream choices(spec_.seed, kChoiceStream);
    const RandomStream noise(spec_.seed, kNoiseStream);
    const auto d = static_cast<std::uint64_t>(spec_.features);
    const auto k = static_cast<std::uint64_t>(spec_.centers);
    const auto end = static_cast<std::uint64_t>(rows.end);
    const std::uint64_t rows_between_stops = kValuesBetweenStops / d + 1;
    for (auto i = static_cast<std::uint64_t>(rows.begin); i < end; ++i) {
      if (stop_ && i % rows_between_stops == 0 && stop_()) throw Cancelled();
      const double* centre = centres_.data() + choices.below(k, i) * d;
      for (std::uint64_t j = 0; j < d; ++j) {
        *values++ = static_cast<T>(centre[j] + spec_.std * noise.normal(i * d + j));
      }
    }
  }

  BlobsSpec spec_;
  std::string name_;
  mutable std::once_flag centres_drawn_;
  mutable std::vector<double> centres_;
  std::function<bool()> stop_;
};

}  // namespace

void check_blobs(const BlobsSpec& spec) {
  const FloatEnvironment environment;
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
  const double range = 2 * (spec.box + kLargestNormal * spec.std);
  const double squares = static_cast<double>(spec.features) * range * range;
  if (!(squares < kLargestSquare)) {
    throw InputError(fmt::format(
        "blobs: box {} and std {} with {} features give squared distances up to {:.3g}, too large "
        "for a fit (limit {:.3g})",
        spec.box, spec.std, spec.features, squares, kLargestSquare));
  }
  // Smaller values would be rounded to zero in float32, and their squares in float64.
  const double least = single ? static_cast<double>(std::numeric_limits<float>::min()) : 1e-150;
  const double reach = spec.box + spec.std;
  if (reach > 0 && reach < least) {
    throw InputError(
        fmt::format("blobs: box {} and std {} give values too small for {} (limit {:.3g})",
                    spec.box, spec.std, single ? "float32" : "float64", least));
  }
}

std::unique_ptr<RowSource> blob_rows(const BlobsSpec& spec) {
  check_blobs(spec);
  return std::make_unique<BlobsRows>(spec);
}

Dataset make_blobs(const BlobsSpec& spec, const std::function<bool()>& stop) {
  check_blobs(spec);
  const BlobsRows rows(spec, stop);
  return Dataset(rows.name(), read_all(rows));
}

}  // namespace lloyd

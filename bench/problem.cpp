#include "problem.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/seeding.hpp>

namespace lloyd::bench {
namespace {

// 1000000 -> "1e6", 200000 -> "2e5", 784 -> "784".
std::string short_number(std::int64_t number) {
  int zeros = 0;
  std::int64_t rest = number;
  for (; rest % 10 == 0 && rest > 0; rest /= 10) ++zeros;
  return zeros < 3 ? fmt::format("{}", number) : fmt::format("{}e{}", rest, zeros);
}

// Parses a whole number from 1 to 1e12, which may be written "1e6"; 0 for anything else.
std::int64_t count_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && value >= 1 &&
                     value <= 1e12 && value == std::floor(value);
  return whole ? static_cast<std::int64_t>(value) : 0;
}

BlobsSpec blobs_of(const Shape& shape, DType dtype) {
  BlobsSpec spec;
  spec.samples = shape.samples;
  spec.features = shape.features;
  spec.centers = shape.clusters;
  spec.std = 2.72 * std::sqrt(static_cast<double>(shape.features));
  spec.box = 10;
  spec.seed = 1;
  spec.dtype = dtype;
  return spec;
}

}  // namespace

std::string Shape::name() const {
  return fmt::format("n:{}/d:{}/k:{}", short_number(samples), short_number(features),
                     short_number(clusters));
}

std::vector<Shape> default_shapes() {
  return {{1'000, 2, 32},     {10'000, 2, 32},      {1'000'000, 2, 32},
          {1'000'000, 3, 64}, {1'000'000, 16, 32},  {1'000'000, 16, 256},
          {200'000, 64, 256}, {100'000, 128, 1000}, {100'000, 784, 10}};
}

std::vector<Shape> parse_shapes(std::string_view text) {
  std::vector<Shape> shapes;
  do {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const std::size_t first = std::min(item.find('x'), item.size());
    const std::size_t second = std::min(item.find('x', first + 1), item.size());
    const Shape shape{count_of(item.substr(0, first)),
                      count_of(item.substr(std::min(first + 1, second), second - first - 1)),
                      count_of(item.substr(std::min(second + 1, item.size())))};
    if (shape.samples == 0 || shape.features == 0 || shape.clusters == 0 ||
        shape.clusters > shape.samples) {
      throw InputError(fmt::format(
          "the shape '{}' is not samples x features x clusters, such as 1e6x16x32", item));
    }
    shapes.push_back(shape);
    text.remove_prefix(std::min(comma + 1, text.size()));
  } while (!text.empty());
  return shapes;
}

Problem::Problem(const Shape& shape, DType dtype)
    : dataset(make_blobs(blobs_of(shape, dtype))),
      start(seed_centroids(dataset, shape.clusters, {.method = SeedingMethod::random, .seed = 1})) {
}

const Problem& Problems::at(const Shape& shape) {
  const auto found = kept_.find(shape);
  if (found != kept_.end()) return *found->second;
  // A shape that is requested again shows that runs are interleaved; from then on all problems are
  // kept.
  if (!made_.insert(shape).second) interleaved_ = true;
  if (!interleaved_) kept_.clear();
  return *kept_.emplace(shape, std::make_unique<Problem>(shape, dtype_)).first->second;
}

}  // namespace lloyd::bench

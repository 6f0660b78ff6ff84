#include "fit/plot/plotted_samples.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>

#include <lloyd/data/row_source.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/sampled_rows.hpp>

namespace lloyd::apps {
namespace {

constexpr std::int64_t kPlotBlockBytes = std::int64_t{4} << 20;

// Rows that are read at once.
std::int64_t plot_block_rows(const Dataset& dataset) {
  if (dataset.in_memory()) return 1;
  const std::int64_t row_bytes = dataset.features() * size_of(dataset.dtype());
  return std::clamp<std::int64_t>(kPlotBlockBytes / row_bytes, 1, dataset.samples());
}

template <class T>
void append_values(const RowSource& source, std::int64_t block_rows, const StopFunction& stop,
                   PlottedSamples& samples) {
  const std::int64_t d = source.features();
  std::vector<T> block(static_cast<std::size_t>(block_rows * d));
  RowRange read{0, 0};
  for (const std::int64_t row : samples.rows) {
    if (row >= read.end) {  // blocks without rows of the plot are skipped
      if (stop && stop()) throw Cancelled();
      read = {row, std::min(row + block_rows, source.samples())};
      source.read(read, block.data());
    }
    const T* const values = block.data() + (row - read.begin) * d;
    samples.values.insert(samples.values.end(), values, values + d);
  }
}

}  // namespace

std::int64_t plotted_sample_count(std::int64_t samples, std::int64_t features) {
  const std::int64_t affordable = std::max(kMaxPlottedValues / features, kMinPlottedSamples);
  return std::min({samples, affordable, kMaxPlottedSamples});
}

std::int64_t plot_bytes(std::int64_t samples, std::int64_t features, std::int64_t clusters) {
  // The values, and a copy of them for the axes; a block of the file; the place, rank and path of
  // each cluster; the matrices of the axes and the document, each below 3 MiB.
  constexpr std::int64_t kClusterBytes = 64;
  constexpr std::int64_t kRestBytes = std::int64_t{6} << 20;
  const std::int64_t values = plotted_sample_count(samples, features) * features;
  return 2 * values * std::int64_t{sizeof(double)} +
         std::max(kPlotBlockBytes, features * std::int64_t{sizeof(double)}) +
         kClusterBytes * clusters + kRestBytes;
}

PlottedSamples read_plotted_samples(const Dataset& dataset, const StopFunction& stop) {
  PlottedSamples samples;
  const std::int64_t count = plotted_sample_count(dataset.samples(), dataset.features());
  samples.rows = sampled_rows(dataset.samples(), count);
  samples.values.reserve(static_cast<std::size_t>(count * dataset.features()));
  const std::shared_ptr<const RowSource> source =
      dataset.in_memory() ? rows_of(dataset.name(), dataset.matrix()) : dataset.source();
  if (dataset.dtype() == DType::float32) {
    append_values<float>(*source, plot_block_rows(dataset), stop, samples);
  } else {
    append_values<double>(*source, plot_block_rows(dataset), stop, samples);
  }
  return samples;
}

}  // namespace lloyd::apps

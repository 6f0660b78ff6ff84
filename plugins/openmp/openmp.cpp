// All cores, vectorised: a tile of samples, one in each lane, against one centroid after another.
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

#include "nearest.hpp"
#include "score_screen.hpp"
#include "seeding_kernels.hpp"

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("threads", 0, 0, 1024, "threads of the pool; 0: one per core"),
    lloyd::integer_parameter("chunk", 0, 0, std::int64_t{1} << 40,
                             "rows that a thread takes at a time; 0: chosen from n"),
};

constexpr lloyd::BackendInfo kInfo = {
    .summary = "all cores, vectorised",
    .algorithm = "lloyd",
    .features = lloyd::kStepFeatures,
    .accuracy = lloyd::Accuracy::exact,
    .accuracy_float64 = lloyd::Accuracy::exact,
    .reproducibility = lloyd::Reproducibility::canonical,
    .reproducibility_float64 = lloyd::Reproducibility::canonical,
    .preference = 100,
    .parameters = kParameters,
    .parameter_count = 2,
};

int thread_count(const lloyd::ParameterList& parameters) {
  const auto threads = static_cast<int>(parameters.integer("threads"));
  return threads > 0 ? threads : omp_get_num_procs();
}

// What a thread works with.
template <class Real>
class alignas(64) Scratch {
 public:
  explicit Scratch(std::int64_t features) : tile_(static_cast<std::size_t>(features)) {
    if constexpr (sizeof(Real) < sizeof(double)) exact_.resize(static_cast<std::size_t>(features));
    undecided.reserve(2 * lloyd_openmp::kTile);
  }

  lloyd_openmp::TileRow<Real>* tile() { return tile_.data(); }
  // For samples in float64; where they are that anyway, it is tile().
  lloyd_openmp::TileRow<double>* exact_tile() {
    if constexpr (sizeof(Real) < sizeof(double)) {
      return exact_.data();
    } else {
      return tile_.data();
    }
  }

  static std::int64_t bytes(std::int64_t features) {
    constexpr std::size_t of_each = sizeof(Real) < sizeof(double) ? 12 : 8;
    return features * lloyd_openmp::kTile * static_cast<std::int64_t>(of_each);
  }

  std::vector<std::int64_t> undecided;  // rows
  std::int64_t decided = 0;             // of them, by the definition

 private:
  std::vector<lloyd_openmp::TileRow<Real>> tile_;
  std::vector<lloyd_openmp::TileRow<double>> exact_;
};

template <class T>
class OpenmpStep : public lloyd::StepBase {
 public:
  using value_type = T;

  OpenmpStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : dataset_(dataset),
        screen_(dataset),
        threads_(thread_count(parameters)),
        chunk_(parameters.integer("chunk")),
        seeding_(dataset, threads_) {
    // Not copies of one: a copy of a vector has no room in reserve.
    scratch_.reserve(static_cast<std::size_t>(threads_));
    for (int thread = 0; thread < threads_; ++thread) scratch_.emplace_back(dataset.features);
  }

  static int estimate_workers(const lloyd::ParameterList& parameters) {
    return thread_count(parameters);
  }

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList& parameters) {
    // Seeding takes a tile of its own for each thread and one more, and its centroids once more.
    const std::int64_t tile =
        shape.features * lloyd_openmp::kTile * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t threads = thread_count(parameters);
    const std::int64_t seeding = (threads + 1) * tile + 2 * shape.clusters * shape.features *
                                                            static_cast<std::int64_t>(sizeof(T));
    return threads * Scratch<T>::bytes(shape.features) + seeding +
           lloyd_openmp::ScoreScreen<T>::bytes(shape.clusters, shape.features);
  }

  int workers() const { return threads_; }

  void* query(std::string_view name) {
    const bool seeds =
        name == lloyd::kSeedingKernels && lloyd_openmp::OpenmpSeeding::supports(dataset_.features);
    return seeds ? static_cast<lloyd::SeedingKernels*>(&seeding_) : nullptr;
  }

  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) const {
    const std::int64_t chunk = chunk_ > 0 ? std::min(chunk_, rows.size()) : automatic_chunk(rows);
    const std::int64_t blocks = chunk > 0 ? (rows.size() + chunk - 1) / chunk : 0;
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 1)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t begin = rows.begin + b * chunk;
      body(omp_get_thread_num(), lloyd::RowRange{begin, std::min(begin + chunk, rows.end)});
    }
  }

  void set_centroids(const double* centroids, std::int64_t clusters) {
    clusters_ = clusters;
    centroids_ = centroids;
    screen_.set_centroids(centroids, clusters);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
    const auto ignore = [](std::int64_t, std::int32_t, std::int32_t) {};
    return assign_block(block, labels, ignore);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels,
                      lloyd::LabelChanges<T>& changes) {
    return assign_block(block, labels, [&](std::int64_t row, std::int32_t from, std::int32_t to) {
      changes.add(row, from, to);
    });
  }

  std::int64_t take_redecided() {
    std::int64_t decided = 0;
    for (Scratch<T>& scratch : scratch_) decided += std::exchange(scratch.decided, 0);
    return decided;
  }

 private:
  // Enough chunks to balance the load, none so small that handing it out costs more than it takes.
  std::int64_t automatic_chunk(lloyd::RowRange rows) const {
    constexpr std::int64_t kLeast = 512;
    constexpr std::int64_t kMost = 16384;
    return std::clamp(rows.size() / (8 * threads_), kLeast, kMost);
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  // Calls report(row, former, label) for labels that change, and returns how many do.
  template <class Report>
  std::int64_t assign_block(lloyd::RowRange block, std::int32_t* labels, const Report& report) {
    using lloyd_openmp::kTile;
    Scratch<T>& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    std::int64_t changed = 0;
    const auto set = [&](std::int64_t row, std::int32_t label) {
      std::int32_t& former = labels[row - block.begin];
      if (former == label) return;
      report(row, former, label);
      former = label;
      ++changed;
    };
    scratch.undecided.clear();
    for (std::int64_t begin = block.begin; begin < block.end; begin += kTile) {
      const std::int64_t rows = std::min(kTile, block.end - begin);
      if (!screen_.fits()) {
        for (std::int64_t i = 0; i < rows; ++i) scratch.undecided.push_back(begin + i);
      } else {
        screen_tile(begin, rows, labels + (begin - block.begin), scratch, set);
      }
      if (std::ssize(scratch.undecided) >= kTile) decide(scratch, set);
    }
    while (!scratch.undecided.empty()) decide(scratch, set);
    return changed;
  }

  template <class Set>
  void screen_tile(std::int64_t begin, std::int64_t rows, const std::int32_t* labels,
                   Scratch<T>& scratch, const Set& set) const {
    using lloyd_openmp::kTile;
    load_tile(row(begin), dataset_.stride, rows, dataset_.features, screen_.origin(),
              scratch.tile());
    std::int32_t padded[kTile];
    const std::int32_t* former = labels;
    std::uint64_t wanted = ~std::uint64_t{0};
    if (rows < kTile) {
      std::fill(std::copy_n(labels, rows, padded), padded + kTile, 0);
      former = padded;
      wanted = (std::uint64_t{1} << rows) - 1;
    }
    lloyd_openmp::TileLabels nearest;
    screen_nearest(scratch.tile(), dataset_.features, screen_.centroids(), former, nearest);
    for (std::uint64_t left = nearest.undecided & wanted; left != 0; left &= left - 1) {
      scratch.undecided.push_back(begin + std::countr_zero(left));
    }
    for (std::uint64_t left = nearest.changed & ~nearest.undecided & wanted; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      set(begin + lane, nearest.labels[lane]);
    }
  }

  // Labels up to a tile of undecided samples by the definition.
  template <class Set>
  void decide(Scratch<T>& scratch, const Set& set) const {
    using lloyd_openmp::kTile;
    const std::int64_t d = dataset_.features;
    lloyd_openmp::TileRow<double>* const tile = scratch.exact_tile();
    const auto count = std::min(kTile, static_cast<std::int64_t>(scratch.undecided.size()));
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      const T* x = row(scratch.undecided[static_cast<std::size_t>(lane < count ? lane : 0)]);
      for (std::int64_t j = 0; j < d; ++j) {
        tile[j].lanes[lane] = static_cast<double>(x[j]);
      }
    }
    alignas(64) std::int32_t labels[kTile];
    lloyd_openmp::define_nearest(tile, d, centroids_, clusters_, labels);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      set(scratch.undecided[static_cast<std::size_t>(lane)], labels[lane]);
    }
    scratch.decided += count;
    scratch.undecided.erase(scratch.undecided.begin(), scratch.undecided.begin() + count);
  }

  lloyd::DatasetView dataset_;
  lloyd_openmp::ScoreScreen<T> screen_;
  int threads_;
  std::int64_t chunk_;
  std::vector<Scratch<T>> scratch_;  // one per thread
  lloyd_openmp::OpenmpSeeding seeding_;
  std::int64_t clusters_ = 0;
  const double* centroids_ = nullptr;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<OpenmpStep, kInfo>);

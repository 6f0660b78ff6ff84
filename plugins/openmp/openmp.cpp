// All cores, vectorised: a tile of samples, one in each lane, against one centroid after another.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

#include "distance_screen.hpp"
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
    .accuracy = lloyd::Accuracy::float32,
    .accuracy_float64 = lloyd::Accuracy::exact,
    .reproducibility = lloyd::Reproducibility::threads,
    .reproducibility_float64 = lloyd::Reproducibility::canonical,
    .preference = 100,
    .reproducibility_reason = "distances of float32 samples are computed in float32",
    .parameters = kParameters,
    .parameter_count = 2,
};

int thread_count(const lloyd::ParameterList& parameters) {
  const auto threads = static_cast<int>(parameters.integer("threads"));
  return threads > 0 ? threads : omp_get_num_procs();
}

// Samples side by side: kVectors registers of 16 bytes, which every x86-64 and AArch64 has; a
// sample in each lane.
constexpr std::int64_t kVectors = 4;

template <class Real>
struct Lanes;
template <>
struct Lanes<float> {
  using Index = std::int32_t;
  typedef float Values __attribute__((vector_size(16)));
  typedef Index Indices __attribute__((vector_size(16)));
};
template <>
struct Lanes<double> {
  using Index = std::int64_t;
  typedef double Values __attribute__((vector_size(16)));
  typedef Index Indices __attribute__((vector_size(16)));
};

// Room for one tile of samples of either type: features x kVectors.
struct Tile {
  explicit Tile(std::int64_t features)
      : narrow(static_cast<std::size_t>(features * kVectors)),
        wide(static_cast<std::size_t>(features * kVectors)) {}

  template <class Real>
  typename Lanes<Real>::Values* vectors() {
    if constexpr (sizeof(Real) == sizeof(float)) {
      return narrow.data();
    } else {
      return wide.data();
    }
  }

  std::vector<Lanes<float>::Values> narrow;
  std::vector<Lanes<double>::Values> wide;
};

template <class T>
class OpenmpStep : public lloyd::StepBase {
 public:
  using value_type = T;

  OpenmpStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : dataset_(dataset),
        range_(dataset),
        threads_(thread_count(parameters)),
        chunk_(parameters.integer("chunk")),
        tiles_(static_cast<std::size_t>(threads_), Tile(dataset.features)),
        seeding_(dataset, threads_) {}

  static int estimate_workers(const lloyd::ParameterList& parameters) {
    return thread_count(parameters);
  }

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList& parameters) {
    const std::int64_t tile = shape.features * kVectors * 2 * std::int64_t{16};
    const std::int64_t centroids =
        shape.clusters * shape.features * static_cast<std::int64_t>(sizeof(T));
    // Seeding takes a tile of its own for each thread and one more, and its centroids once more.
    const std::int64_t seeding =
        shape.features * lloyd_openmp::kTile * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t threads = thread_count(parameters);
    return threads * tile + (threads + 1) * seeding + 3 * centroids;
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
    exact_centroids_ = centroids;
    // float64 samples are always computed in float64, by the definition.
    in_sample_type_ = sizeof(T) == sizeof(double) || range_.covers(centroids, clusters);
    centroids_.assign(centroids, centroids + clusters * dataset_.features);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
    if (in_sample_type_) return assign_in(block, centroids_.data(), labels);
    return assign_in(block, exact_centroids_, labels);
  }

 private:
  // Enough chunks to balance the load, none so small that handing it out costs more than it takes.
  std::int64_t automatic_chunk(lloyd::RowRange rows) const {
    constexpr std::int64_t kLeast = 512;
    constexpr std::int64_t kMost = 16384;
    return std::clamp(rows.size() / (8 * threads_), kLeast, kMost);
  }

  // Real: the type that distances are computed in.
  template <class Real>
  std::int64_t assign_in(lloyd::RowRange block, const Real* centroids, std::int32_t* labels) {
    using Values = typename Lanes<Real>::Values;
    using Indices = typename Lanes<Real>::Indices;
    constexpr std::int64_t kLanes = sizeof(Values) / sizeof(Real);
    const std::int64_t d = dataset_.features;
    Values* tile = tiles_[static_cast<std::size_t>(omp_get_thread_num())].template vectors<Real>();

    std::int64_t changed = 0;
    for (std::int64_t begin = block.begin; begin < block.end; begin += kVectors * kLanes) {
      const std::int64_t rows = std::min(kVectors * kLanes, block.end - begin);
      load_tile(begin, rows, tile);
      Values least[kVectors];
      for (Values& values : least) values = Values{} + std::numeric_limits<Real>::infinity();
      Indices nearest[kVectors] = {};
      for (std::int64_t c = 0; c < clusters_; ++c) {
        const Real* centroid = centroids + c * d;
        Values distance[kVectors] = {};
        for (std::int64_t j = 0; j < d; ++j) {
          const Values value = Values{} + centroid[j];
          for (std::int64_t v = 0; v < kVectors; ++v) {
            const Values difference = tile[j * kVectors + v] - value;
            distance[v] += difference * difference;
          }
        }
        const Indices index = Indices{} + static_cast<typename Lanes<Real>::Index>(c);
        for (std::int64_t v = 0; v < kVectors; ++v) {
          const Indices nearer = distance[v] < least[v];
          least[v] = nearer ? distance[v] : least[v];
          nearest[v] = nearer ? index : nearest[v];
        }
      }
      for (std::int64_t lane = 0; lane < rows; ++lane) {
        std::int32_t& label = labels[begin - block.begin + lane];
        const auto found = static_cast<std::int32_t>(nearest[lane / kLanes][lane % kLanes]);
        changed += label != found;
        label = found;
      }
    }
    return changed;
  }

  // Lanes beyond the last row repeat the first one; their labels are not used.
  template <class Values>
  void load_tile(std::int64_t begin, std::int64_t rows, Values* tile) const {
    constexpr std::int64_t kLanes = sizeof(Values) / sizeof(tile[0][0]);
    const T* x = static_cast<const T*>(dataset_.data) + begin * dataset_.stride;
    for (std::int64_t lane = 0; lane < kVectors * kLanes; ++lane) {
      const T* sample = x + (lane < rows ? lane : 0) * dataset_.stride;
      for (std::int64_t j = 0; j < dataset_.features; ++j) {
        tile[j * kVectors + lane / kLanes][lane % kLanes] = sample[j];
      }
    }
  }

  lloyd::DatasetView dataset_;
  lloyd::Float32Range range_;
  int threads_;
  std::int64_t chunk_;
  std::vector<Tile> tiles_;  // one per thread
  lloyd_openmp::OpenmpSeeding seeding_;
  std::int64_t clusters_ = 0;
  const double* exact_centroids_ = nullptr;
  std::vector<T> centroids_;  // the same, rounded to T
  bool in_sample_type_ = true;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<OpenmpStep, kInfo>);

// The openmp backend: its parameters, its threads, and the step that Lloyd's loop calls.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <lloyd/plugin/plugin.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

#include "assignment.hpp"
#include "bounds/pruning.hpp"
#include "common/instruction_set.hpp"
#include "common/shared_team.hpp"
#include "common/tile.hpp"
#include "common/useful_threads.hpp"
#include "common/window_blocks.hpp"
#include "seeding/seeding_kernels.hpp"
#include "sums/sum_kernels.hpp"

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter(
        "threads", 0, 0, 1024,
        "number of threads; 0: chosen from the problem size, at most one per usable processor"),
    lloyd::integer_parameter(
        "chunk", 0, 0, std::int64_t{1} << 40,
        "samples that a thread takes at a time, preferably a multiple of 1024; 0: chosen from the "
        "number of samples"),
    lloyd::choice_parameter("isa", lloyd_openmp::InstructionSet::kNames,
                            "instruction set of the kernels; auto: the best one that this "
                            "processor supports"),
    lloyd::choice_parameter(
        "algorithm", lloyd_openmp::kAlgorithmNames,
        "how distance computations are avoided; lloyd: without stored bounds; hamerly, elkan, "
        "yinyang: by bounds that are kept from one iteration to the next; auto: as lloyd, hamerly "
        "or yinyang, whichever was fastest in recent iterations. The results are the same"),
};

constexpr lloyd::BackendInfo kInfo = {
    .summary = "all cores, vectorised",
    .algorithm = "lloyd",
    .capabilities = lloyd::kStepCapabilities | lloyd::kCapabilityRowWindows,
    .accuracy = lloyd::Accuracy::exact,
    .accuracy_float64 = lloyd::Accuracy::exact,
    .reproducibility = lloyd::Reproducibility::canonical,
    .reproducibility_float64 = lloyd::Reproducibility::canonical,
    .preference = 100,
    .parameters = kParameters,
    .parameter_count = std::ssize(kParameters),
};

int thread_count(const lloyd::ParameterList& parameters) {
  const auto threads = static_cast<int>(parameters.integer("threads"));
  return threads > 0 ? threads : lloyd::usable_processors();
}

lloyd_openmp::InstructionSet checked_instruction_set(const lloyd::ParameterList& parameters) {
  using lloyd_openmp::InstructionSet;
  const std::int64_t choice = parameters.choice("isa");
  if (!InstructionSet::supported(choice)) {
    throw lloyd::StatusError(lloyd::StatusCode::unsupported,
                             std::string("this machine has no ") + InstructionSet::kNames[choice] +
                                 "; it has " + InstructionSet::supported_names());
  }
  return InstructionSet(choice);
}

lloyd_openmp::Algorithm chosen_algorithm(const lloyd::ParameterList& parameters) {
  return static_cast<lloyd_openmp::Algorithm>(parameters.choice("algorithm"));
}

// Number of the calling thread within the team, set at the start of each block. Aligned to work
// around LeakSanitizer (g++ 12, clang 14): it crashes at exit if a loaded library has little
// thread-local storage and threads are still waiting.
alignas(64) thread_local int thread_number = 0;

template <class T>
class OpenmpStep : public lloyd::StepBase {
 public:
  using value_type = T;

  OpenmpStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : samples_(dataset.samples),
        features_(dataset.features),
        in_windows_(dataset.data == nullptr),
        threads_(thread_count(parameters)),
        chooses_threads_(parameters.integer("threads") == 0),
        chunk_(parameters.integer("chunk")),
        instruction_set_(checked_instruction_set(parameters)),
        team_(threads_),
        assignment_(dataset, *team_, instruction_set_, chosen_algorithm(parameters)),
        seeding_(dataset, *team_, instruction_set_) {}

  static lloyd::Status supports(const lloyd::ProblemShape&, const lloyd::ParameterList& parameters,
                                const lloyd::FitSpec&) {
    checked_instruction_set(parameters);
    return {};
  }

  static int estimate_workers(const lloyd::ParameterList& parameters) {
    return thread_count(parameters);
  }

  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList& parameters) {
    // Seeding: each thread's worker has a tile and is copied from one prototype; there are two
    // copies of the centroids.
    const std::int64_t tile =
        shape.features * lloyd_openmp::kTile * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t threads = thread_count(parameters);
    const std::int64_t seeding =
        (threads + 1) * tile +
        2 * shape.clusters * shape.features * static_cast<std::int64_t>(sizeof(T)) +
        lloyd_openmp::OpenmpSeeding::stored_bytes(shape.dtype, shape.samples, shape.features);
    return seeding + lloyd_openmp::Assignment<T>::bytes(shape.samples, shape.clusters,
                                                        shape.features, threads,
                                                        chosen_algorithm(parameters));
  }

  int workers() const { return threads_; }

  void* query(std::string_view name) {
    const bool seeds =
        name == lloyd::kSeedingKernels && lloyd_openmp::OpenmpSeeding::supports(features_);
    return seeds ? static_cast<lloyd::SeedingKernels*>(&seeding_) : nullptr;
  }

  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) const {
    if (in_windows_ && chunk_ == 0) {
      const std::int64_t row_bytes = features_ * static_cast<std::int64_t>(sizeof(T));
      const std::vector<std::int64_t> ends =
          lloyd_openmp::window_block_ends(rows, threads_, row_bytes);
      team_->for_each(
          useful_threads(rows.size()), std::ssize(ends), [&](int thread, std::int64_t b) {
            thread_number = thread;
            const auto block = static_cast<std::size_t>(b);
            body(thread, lloyd::RowRange{b == 0 ? rows.begin : ends[block - 1], ends[block]});
          });
      return;
    }
    const std::int64_t chunk = chunk_ > 0 ? std::min(chunk_, rows.size()) : automatic_chunk(rows);
    const std::int64_t blocks = chunk > 0 ? (rows.size() + chunk - 1) / chunk : 0;
    team_->for_each(useful_threads(rows.size()), blocks, [&](int thread, std::int64_t b) {
      thread_number = thread;
      const std::int64_t begin = rows.begin + b * chunk;
      body(thread, lloyd::RowRange{begin, std::min(begin + chunk, rows.end)});
    });
  }

  void begin_fit(const lloyd::StepFitOptions& options) {
    passes_ = 0;
    allows_any_order_ = false;
    seeding_.release();
    assignment_.begin_fit(options);
  }
  void end_fit() { assignment_.end_fit(); }
  void write_labels(std::int32_t* labels) { assignment_.write_labels(labels); }

  void begin_pass(const double* centroids, std::int64_t clusters,
                  const lloyd::StepPassOptions& options) {
    clusters_ = clusters;
    ++passes_;
    allows_any_order_ = options.reports_changes && chunk_ % kBlockAlignment == 0;
    // A pass over part of the samples uses at most this number of threads.
    assignment_.set_centroids(centroids, clusters, allows_any_order_, useful_threads(samples_));
  }

  void use_samples(const void* data, lloyd::RowRange window) {
    assignment_.use_samples(data, window);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) {
    return assignment_.assign(
        thread_number, block, labels,
        [](const T*, std::int64_t, const lloyd::LabelChange*, std::int64_t) {});
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels,
                      lloyd::LabelChangeSums<T>& changes) {
    const bool in_row_order = !allows_any_order_ || !assignment_.in_spatial_order();
    if (features_ <= kMaxFirstPassFeatures && passes_ == 1 && in_row_order) {
      return assign_first(block, labels, changes);
    }
    // add_unchecked() is safe: screens and exact fallback only return labels in [0, k).
    const auto report = [&](const T* samples, std::int64_t stride,
                            const lloyd::LabelChange* changed, std::int64_t count) {
      changes.add_unchecked(samples, stride, changed, count);
    };
    const int thread = thread_number;
    if (!allows_any_order_) return assignment_.assign(thread, block, labels, report);
    return assignment_.assign_positions(thread, block, labels - block.begin, report);
  }

  lloyd::SumKernels<T> sum_kernels() const {
    return lloyd_openmp::sum_kernels<T>(instruction_set_);
  }

  std::int64_t take_exact_fallbacks() { return assignment_.take_exact_fallbacks(); }
  std::int64_t take_distances() { return assignment_.take_distances(); }

 private:
  static constexpr std::int64_t kBlockAlignment = lloyd_openmp::Assignment<T>::kBlockAlignment;
  static constexpr std::int64_t kMaxFirstPassFeatures = 8;

  // The first pass of a fit, in which no row has a label: rows are summed in small batches while
  // they are still in L1 or L2. With many features, too few rows fit into these caches.
  std::int64_t assign_first(lloyd::RowRange block, std::int32_t* labels,
                            lloyd::LabelChangeSums<T>& changes) {
    constexpr std::int64_t kRows = 32 * lloyd_openmp::kTile;
    if (allows_any_order_) assignment_.set_label_array(thread_number, labels - block.begin);
    for (std::int64_t begin = block.begin; begin < block.end; begin += kRows) {
      const lloyd::RowRange rows{begin, std::min(begin + kRows, block.end)};
      std::int32_t* const row_labels = labels + (begin - block.begin);
      assign(rows, row_labels);
      changes.add(rows, row_labels);
    }
    return block.size();
  }

  int useful_threads(std::int64_t rows) const {
    if (!chooses_threads_) return threads_;
    return lloyd_openmp::useful_threads(rows, clusters_, features_, threads_);
  }

  // Small enough to balance the load, large enough to amortise scheduling. A multiple of the tile
  // size, because only whole tiles are stored as integers. Blocks in spatial order begin at
  // multiples of kBlockAlignment.
  std::int64_t automatic_chunk(lloyd::RowRange rows) const {
    const std::int64_t unit =
        features_ <= lloyd_openmp::kBoxFeatures ? kBlockAlignment : lloyd_openmp::kTile;
    const std::int64_t min_rows = std::max<std::int64_t>(512, unit);
    constexpr std::int64_t kMaxRows = 16384;
    const std::int64_t rows_each = std::clamp(rows.size() / (8 * threads_), min_rows, kMaxRows);
    return rows_each / unit * unit;
  }

  std::int64_t samples_;
  std::int64_t features_;
  bool in_windows_;  // the samples are not in memory
  std::int64_t clusters_ = 0;
  std::int64_t passes_ = 0;        // of this fit
  bool allows_any_order_ = false;  // whether the pass may use assign_positions()
  int threads_;
  bool chooses_threads_;  // whether a pass may use fewer threads
  std::int64_t chunk_;
  lloyd_openmp::InstructionSet instruction_set_;
  lloyd_openmp::SharedTeam team_;
  lloyd_openmp::Assignment<T> assignment_;
  lloyd_openmp::OpenmpSeeding seeding_;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<OpenmpStep, kInfo>);

// All cores, vectorised: samples are screened, and what that leaves open is decided by the
// definition.
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

#include "instruction_set.hpp"
#include "integer_screen.hpp"
#include "nearest.hpp"
#include "score_screen.hpp"
#include "screen_choice.hpp"
#include "seeding_kernels.hpp"
#include "sum_kernels.hpp"

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("threads", 0, 0, 1024, "threads of the pool; 0: one per core"),
    lloyd::integer_parameter("chunk", 0, 0, std::int64_t{1} << 40,
                             "rows that a thread takes at a time; 0: chosen from n"),
    lloyd::choice_parameter("isa", lloyd_openmp::InstructionSet::kNames,
                            "instruction set; auto: the best one that the machine has"),
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
    .parameter_count = 3,
};

int thread_count(const lloyd::ParameterList& parameters) {
  const auto threads = static_cast<int>(parameters.integer("threads"));
  return threads > 0 ? threads : omp_get_num_procs();
}

lloyd_openmp::InstructionSet checked_instruction_set(const lloyd::ParameterList& parameters) {
  using lloyd_openmp::InstructionSet;
  const std::int64_t choice = parameters.integer("isa");
  if (!InstructionSet::has(choice)) {
    throw lloyd::StatusError(lloyd::StatusCode::unsupported,
                             std::string("this machine has no ") + InstructionSet::kNames[choice] +
                                 "; it has " + InstructionSet::all());
  }
  return InstructionSet(choice);
}

// Rows that wait until there are enough of them for a tile.
class WaitingRows {
 public:
  WaitingRows() { rows_.reserve(2 * lloyd_openmp::kTile); }

  void add(std::int64_t row) { rows_.push_back(row); }
  bool empty() const { return rows_.empty(); }
  bool fill_tile() const { return std::ssize(rows_) >= lloyd_openmp::kTile; }
  const std::int64_t* first() const { return rows_.data(); }
  // Rows of the next tile.
  std::int64_t count() const { return std::min(lloyd_openmp::kTile, std::ssize(rows_)); }
  void drop(std::int64_t count) { rows_.erase(rows_.begin(), rows_.begin() + count); }

 private:
  std::vector<std::int64_t> rows_;
};

// What a thread works with. Integers are for samples in float32.
template <class Real>
class alignas(64) Scratch {
 public:
  explicit Scratch(std::int64_t features)
      : tile_(static_cast<std::size_t>(features)),
        exact_(static_cast<std::size_t>(kNarrow ? features : 0)),
        pairs_(static_cast<std::size_t>(kNarrow ? (features + 1) / 2 : 0)) {}

  // Before labelling with k centroids.
  void prepare(std::int64_t clusters) {
    if (kNarrow) norms_.resize(static_cast<std::size_t>(clusters));
  }

  lloyd_openmp::TileRow<Real>* tile() { return tile_.data(); }
  // For samples in float64; where they are that anyway, it is tile().
  lloyd_openmp::TileRow<double>* exact_tile() {
    if constexpr (kNarrow) {
      return exact_.data();
    } else {
      return tile_.data();
    }
  }
  lloyd_openmp::IntegerWorkspace integers() { return {pairs_.data(), norms_.data()}; }

  static std::int64_t bytes(std::int64_t clusters, std::int64_t features) {
    constexpr std::int64_t of_each = kNarrow ? 12 : 8;
    const std::int64_t of_integers =
        kNarrow ? (features + 1) / 2 * lloyd_openmp::kTile * 4 + clusters * 4 : 0;
    return features * lloyd_openmp::kTile * of_each + of_integers;
  }

  WaitingRows unproven;      // by integers
  WaitingRows undecided;     // by any screen
  std::int64_t decided = 0;  // of these, by the definition

 private:
  static constexpr bool kNarrow = sizeof(Real) < sizeof(double);

  std::vector<lloyd_openmp::TileRow<Real>> tile_;
  std::vector<lloyd_openmp::TileRow<double>> exact_;
  std::vector<lloyd_openmp::PairRow> pairs_;
  std::vector<std::int32_t> norms_;
};

using lloyd_openmp::ScreenKind;

template <class T>
class OpenmpStep : public lloyd::StepBase {
 public:
  using value_type = T;

  OpenmpStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : dataset_(dataset),
        screen_(dataset),
        no_origin_(static_cast<std::size_t>(dataset.features)),
        threads_(thread_count(parameters)),
        chunk_(parameters.integer("chunk")),
        instruction_set_(checked_instruction_set(parameters)),
        seeding_(dataset, threads_, instruction_set_) {
    // Not copies of one: a copy of a vector has no room in reserve.
    scratch_.reserve(static_cast<std::size_t>(threads_));
    for (int thread = 0; thread < threads_; ++thread) scratch_.emplace_back(dataset.features);
  }

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
    // Seeding takes a tile of its own for each thread and one more, and its centroids once more.
    const std::int64_t tile =
        shape.features * lloyd_openmp::kTile * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t threads = thread_count(parameters);
    const std::int64_t seeding = (threads + 1) * tile + 2 * shape.clusters * shape.features *
                                                            static_cast<std::int64_t>(sizeof(T));
    const ScreenKind kind = fastest_screen(shape.clusters, shape.features);
    const std::int64_t integers = kind == ScreenKind::integers ? lloyd_openmp::IntegerScreen::bytes(
                                                                     shape.clusters, shape.features)
                                                               : 0;
    return threads * Scratch<T>::bytes(shape.clusters, shape.features) + seeding + integers +
           lloyd_openmp::ScoreScreen<T>::bytes(shape.clusters, shape.features,
                                               kind == ScreenKind::rows);
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
    kind_ = fastest_screen(clusters, dataset_.features);
    screen_.set_centroids(
        centroids, clusters,
        kind_ == ScreenKind::rows ? row_chain(instruction_set_, dataset_.features) : 0);
    for (Scratch<T>& scratch : scratch_) scratch.prepare(clusters);
    if constexpr (std::is_same_v<T, float>) {
      if (kind_ != ScreenKind::integers || !screen_.fits()) return;
      integers_.set_centroids(centroids, clusters, dataset_.features, screen_.origin(),
                              screen_.reach());
      if (!integers_.fits()) kind_ = ScreenKind::tiles;
    }
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

  lloyd::SumKernels<T> sum_kernels() const {
    return lloyd_openmp::sum_kernels<T>(instruction_set_, dataset_.features);
  }

  std::int64_t take_redecided() {
    std::int64_t decided = 0;
    for (Scratch<T>& scratch : scratch_) decided += std::exchange(scratch.decided, 0);
    return decided;
  }

 private:
  static ScreenKind fastest_screen(std::int64_t k, std::int64_t d) {
    return std::is_same_v<T, float> ? lloyd_openmp::fastest_screen(k, d) : ScreenKind::tiles;
  }

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
    for (std::int64_t begin = block.begin; begin < block.end; begin += kTile) {
      const std::int64_t rows = std::min(kTile, block.end - begin);
      if (!screen_.fits()) {
        for (std::int64_t i = 0; i < rows; ++i) scratch.undecided.add(begin + i);
      } else {
        screen_tile(begin, rows, labels + (begin - block.begin), scratch, set);
      }
      if (scratch.unproven.fill_tile()) screen_waiting(scratch, labels - block.begin, set);
      if (scratch.undecided.fill_tile()) decide(scratch, set);
    }
    while (!scratch.unproven.empty()) screen_waiting(scratch, labels - block.begin, set);
    while (!scratch.undecided.empty()) decide(scratch, set);
    return changed;
  }

  // The least label of each row that is proven goes to set(), the rows that are not to `open`.
  // row_of(lane) are the tile's rows.
  template <class RowOf, class Set>
  static void settle(const lloyd_openmp::TileLabels& nearest, std::int64_t rows,
                     const RowOf& row_of, WaitingRows& open, const Set& set) {
    const std::uint64_t wanted =
        rows < lloyd_openmp::kTile ? (std::uint64_t{1} << rows) - 1 : ~std::uint64_t{0};
    for (std::uint64_t left = nearest.undecided & wanted; left != 0; left &= left - 1) {
      open.add(row_of(std::countr_zero(left)));
    }
    for (std::uint64_t left = nearest.changed & ~nearest.undecided & wanted; left != 0;
         left &= left - 1) {
      const int lane = std::countr_zero(left);
      set(row_of(lane), nearest.labels[lane]);
    }
  }

  template <class Set>
  void screen_tile(std::int64_t begin, std::int64_t rows, const std::int32_t* labels,
                   Scratch<T>& scratch, const Set& set) const {
    using lloyd_openmp::kTile;
    std::int32_t padded[kTile];
    const std::int32_t* former = labels;
    if (rows < kTile) {
      std::fill(std::copy_n(labels, rows, padded), padded + kTile, 0);
      former = padded;
    }
    lloyd_openmp::TileLabels nearest;
    screen(row(begin), rows, former, scratch, nearest);
    settle(
        nearest, rows, [begin](int lane) { return begin + lane; },
        kind_ == ScreenKind::integers ? scratch.unproven : scratch.undecided, set);
  }

  void screen(const T* samples, std::int64_t rows, const std::int32_t* former, Scratch<T>& scratch,
              lloyd_openmp::TileLabels& nearest) const {
    const std::int64_t d = dataset_.features;
    if constexpr (std::is_same_v<T, float>) {
      if (kind_ == ScreenKind::rows) {
        screen_rows(instruction_set_, samples, dataset_.stride, rows, d, screen_.row_centroids(),
                    former, nearest);
        return;
      }
    }
    load_tile(instruction_set_, samples, dataset_.stride, rows, d, screen_.origin(),
              scratch.tile());
    if constexpr (std::is_same_v<T, float>) {
      if (kind_ == ScreenKind::integers) {
        screen_integers(instruction_set_, scratch.tile(), d, integers_.centroids(), former,
                        scratch.integers(), nearest);
        return;
      }
    }
    screen_nearest(instruction_set_, scratch.tile(), d, screen_.centroids(), former, nearest);
  }

  // Screens up to a tile of samples that integers left open. labels[row]: former labels.
  template <class Set>
  void screen_waiting(Scratch<T>& scratch, const std::int32_t* labels, const Set& set) const {
    using lloyd_openmp::kTile;
    const std::int64_t d = dataset_.features;
    const std::int64_t count = scratch.unproven.count();
    const std::int64_t* rows = scratch.unproven.first();
    gather_tile(row(0), dataset_.stride, rows, count, d, screen_.origin(), scratch.tile());
    std::int32_t former[kTile];
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      former[lane] = labels[rows[lane < count ? lane : 0]];
    }
    lloyd_openmp::TileLabels nearest;
    screen_nearest(instruction_set_, scratch.tile(), d, screen_.centroids(), former, nearest);
    settle(
        nearest, count, [rows](int lane) { return rows[lane]; }, scratch.undecided, set);
    scratch.unproven.drop(count);
  }

  // Labels up to a tile of undecided samples by the definition.
  template <class Set>
  void decide(Scratch<T>& scratch, const Set& set) const {
    const std::int64_t d = dataset_.features;
    lloyd_openmp::TileRow<double>* const tile = scratch.exact_tile();
    const std::int64_t count = scratch.undecided.count();
    const std::int64_t* rows = scratch.undecided.first();
    gather_tile(row(0), dataset_.stride, rows, count, d, no_origin_.data(), tile);
    alignas(64) std::int32_t labels[lloyd_openmp::kTile];
    lloyd_openmp::define_nearest(instruction_set_, tile, d, centroids_, clusters_, labels);
    for (std::int64_t lane = 0; lane < count; ++lane) set(rows[lane], labels[lane]);
    scratch.decided += count;
    scratch.undecided.drop(count);
  }

  lloyd::DatasetView dataset_;
  lloyd_openmp::ScoreScreen<T> screen_;
  lloyd_openmp::IntegerScreen integers_;
  ScreenKind kind_ = ScreenKind::tiles;
  std::vector<double> no_origin_;  // zeros
  int threads_;
  std::int64_t chunk_;
  lloyd_openmp::InstructionSet instruction_set_;
  std::vector<Scratch<T>> scratch_;  // one per thread
  lloyd_openmp::OpenmpSeeding seeding_;
  std::int64_t clusters_ = 0;
  const double* centroids_ = nullptr;
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<OpenmpStep, kInfo>);

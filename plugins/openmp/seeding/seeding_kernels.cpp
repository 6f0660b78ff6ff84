#include "seeding/seeding_kernels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <vector>

#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/float32_range.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "common/useful_threads.hpp"
#include "seeding/distance_screen.hpp"

namespace lloyd_openmp {
namespace {

// With at least this many new centroids, the screen first finds the nearest one, and only that is
// compared with the current squared distance. With fewer, each is compared.
constexpr std::int64_t kMinNearestFirst = 8;

// One pass over all samples.
struct Problem {
  const lloyd::DatasetView& dataset;
  const double* centroids;  // count x features
  std::int64_t count;
  lloyd::ThreadTeam& team;
  InstructionSet instruction_set;
  lloyd::Observer* observer;
};

// A pair of a sample and a centroid.
struct Pair {
  std::int64_t sample, centroid;
};

// Computes squared distances by the definition. T: type of the samples.
template <class T>
class ExactDistances {
 public:
  // Pairs per call of squared_distances(): enough independent sums to hide the latency of
  // additions.
  static constexpr std::size_t kGroupPairs = 4;

  explicit ExactDistances(const Problem& problem) : problem_(problem) {}

  // Calls visit(i, c, distance) for those of the pairs (i, c) whose squared distance is below
  // squared_distances[i]. `count`: 1 to kGroupPairs.
  template <class Visit>
  void visit_nearer(const Pair* pairs, std::size_t count, const double* squared_distances,
                    Visit&& visit) {
    const std::int64_t d = problem_.dataset.features;
    const T* samples[kGroupPairs];
    const double* centroids[kGroupPairs];
    for (std::size_t at = 0; at < kGroupPairs; ++at) {
      const Pair& pair = pairs[std::min(at, count - 1)];
      samples[at] = row(pair.sample);
      centroids[at] = problem_.centroids + pair.centroid * d;
    }
    double distances[kGroupPairs];
    lloyd::squared_distances(samples, centroids, d, distances);
    computed_ += static_cast<std::int64_t>(count);
    for (std::size_t at = 0; at < count; ++at) {
      const Pair& pair = pairs[at];
      if (!(distances[at] < squared_distances[pair.sample])) continue;
      ++nearer_;
      visit(pair.sample, pair.centroid, distances[at]);
    }
  }

  // The same for the pairs of centroid c and each sample i = begin + b for which bit b of `lanes`
  // is set.
  template <class Visit>
  void visit_nearer(std::int64_t begin, std::uint64_t lanes, std::int64_t c,
                    const double* squared_distances, Visit&& visit) {
    while (lanes != 0) {
      Pair pairs[kGroupPairs];
      std::size_t count = 0;
      for (; count < kGroupPairs && lanes != 0; lanes &= lanes - 1) {
        pairs[count++] = {begin + std::countr_zero(lanes), c};
      }
      visit_nearer(pairs, count, squared_distances, visit);
    }
  }

  // Prefetches each sample i = begin + b for which bit b of `lanes` is set.
  void prefetch(std::int64_t begin, std::uint64_t lanes) const {
    constexpr std::int64_t kLine = 64 / sizeof(T);
    for (; lanes != 0; lanes &= lanes - 1) {
      const T* const sample = row(begin + std::countr_zero(lanes));
      for (std::int64_t j = 0; j < problem_.dataset.features; j += kLine) {
        __builtin_prefetch(sample + j);
      }
    }
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(problem_.dataset.data) + i * problem_.dataset.stride;
  }

  // Number of distances that were computed but not below the current one.
  std::int64_t wasted() const { return computed_ - nearer_; }

 private:
  const Problem& problem_;
  std::int64_t computed_ = 0, nearer_ = 0;
};

// One thread's state for screening tiles of stored integers.
//
// Late in a seeding the screen leaves fewer than one pair per tile open on average; pairs are
// collected until groups are full. Meanwhile their samples are prefetched.
//
// Aligned to a cache line: exact_ counts per thread.
class alignas(64) IntegerWorker {
 public:
  IntegerWorker(const Problem& problem, const RoundedSamples& samples)
      : samples_(samples),
        exact_(problem),
        offsets_(static_cast<std::size_t>(problem.count)),
        below_(static_cast<std::size_t>(problem.count)) {}

  // Calls visit(i, c, distance) for samples i of the tile `rows` or of earlier tiles, and centroids
  // c, whose squared distance is below squared_distances[i], in any order. May defer pairs to a
  // later call or to finish().
  template <class Visit>
  void visit_nearer(lloyd::RowRange rows, const double* squared_distances, Visit&& visit) {
    samples_.screen_below(rows.begin, rows.size(), squared_distances + rows.begin, offsets_.data(),
                          below_.data());
    std::uint64_t open_lanes = 0;
    for (const std::uint64_t lanes : below_) open_lanes |= lanes;
    exact_.prefetch(rows.begin, open_lanes);
    for (std::size_t c = 0; c < below_.size(); ++c) {
      for (std::uint64_t lanes = below_[c]; lanes != 0; lanes &= lanes - 1) {
        open_.push_back({rows.begin + std::countr_zero(lanes), static_cast<std::int64_t>(c)});
      }
    }
    // Visited once there are this many.
    constexpr std::size_t kMaxDeferred = 8 * Exact::kGroupPairs;
    if (open_.size() < kMaxDeferred) return;
    visit_open(open_.size() % Exact::kGroupPairs, squared_distances, visit);
  }

  // Calls visit() for the deferred pairs.
  template <class Visit>
  void finish(const double* squared_distances, Visit&& visit) {
    visit_open(0, squared_distances, visit);
  }

  std::int64_t wasted() const { return exact_.wasted(); }

 private:
  using Exact = ExactDistances<float>;

  // Visits all open pairs but the last `deferred`.
  template <class Visit>
  void visit_open(std::size_t deferred, const double* squared_distances, Visit&& visit) {
    const std::size_t end = open_.size() - deferred;
    for (std::size_t at = 0; at < end; at += Exact::kGroupPairs) {
      exact_.visit_nearer(open_.data() + at, std::min(Exact::kGroupPairs, end - at),
                          squared_distances, visit);
    }
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  const RoundedSamples& samples_;
  Exact exact_;
  std::vector<std::int32_t> offsets_;
  std::vector<std::uint64_t> below_;
  std::vector<Pair> open_;
};

// One thread's state for screening tiles in floating point. T: type of the samples; Real: type of
// the screen.
template <class T, class Real>
class TileWorker {
 public:
  TileWorker(const Problem& problem, const Real* screened_centroids)
      : problem_(problem),
        exact_(problem),
        screened_centroids_(screened_centroids),
        bound_(problem.dataset.features),
        origin_(static_cast<std::size_t>(problem.dataset.features)),
        tile_(static_cast<std::size_t>(problem.dataset.features)),
        below_(static_cast<std::size_t>(problem.count)) {}

  void load(lloyd::RowRange rows) {
    rows_ = rows;
    load_tile(problem_.instruction_set, exact_.row(rows.begin), problem_.dataset.stride,
              rows.size(), problem_.dataset.features, origin_.data(), tile_.data());
  }

  // Calls visit(i, c, distance) for each sample i of the tile and centroid c whose squared distance
  // is below the current squared_distances[i], with ascending c.
  template <class Visit>
  void visit_nearer(const double* squared_distances, Visit&& visit) {
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      limits_.lanes[lane] =
          lane < rows_.size() ? bound_.widen(squared_distances[rows_.begin + lane]) : Real(-1);
    }
    visit_below(squared_distances, visit);
  }

  // The same for many centroids. If the screen proves the nearest one, only that is tested.
  // Otherwise all that may be nearest are tested, in ascending order; if visit() lowers
  // squared_distances[i], the nearest is visited last.
  template <class Visit>
  void visit_nearest(const double* squared_distances, Visit&& visit) {
    screen_nearest(problem_.instruction_set, tile_.data(), problem_.dataset.features,
                   screened_centroids_, problem_.count, nearest_);
    bool unproven = false;
    for (std::int64_t lane = 0; lane < kTile; ++lane) {
      limits_.lanes[lane] = -1;
      if (lane >= rows_.size()) continue;
      const std::int64_t i = rows_.begin + lane;
      const Real limit = bound_.widen(squared_distances[i]);
      if (nearest_.lowest.lanes[lane] > limit) continue;
      // By the definition, the squared distance to the nearest centroid is at most widen(lowest).
      // So a centroid whose screened squared distance exceeds widen(widen(lowest)) = `rival` is
      // farther.
      const Real rival = bound_.widen(bound_.widen(nearest_.lowest.lanes[lane]));
      if (nearest_.second.lanes[lane] > rival) {
        exact_.visit_nearer(i, 1, nearest_.index[lane], squared_distances, visit);
      } else {
        limits_.lanes[lane] = std::min(rival, limit);
        unproven = true;
      }
    }
    if (unproven) visit_below(squared_distances, visit);
  }

 private:
  template <class Visit>
  void visit_below(const double* squared_distances, Visit&& visit) {
    screen_below(problem_.instruction_set, tile_.data(), problem_.dataset.features,
                 screened_centroids_, problem_.count, limits_, below_.data());
    for (std::size_t c = 0; c < below_.size(); ++c) {
      exact_.visit_nearer(rows_.begin, below_[c], static_cast<std::int64_t>(c), squared_distances,
                          visit);
    }
  }

  const Problem& problem_;
  ExactDistances<T> exact_;
  const Real* screened_centroids_;
  ScreenBound<Real> bound_;
  std::vector<Real> origin_;  // zeros
  std::vector<TileVector<Real>> tile_;
  std::vector<std::uint64_t> below_;
  TileVector<Real> limits_{};
  TileNearest<Real> nearest_{};
  lloyd::RowRange rows_;
};

// Calls body(thread, worker, rows) for chunks of rows that cover the data set; chunks are multiples
// of kTile rows, except the last. `workers`: one for each thread.
template <class Worker, class Body>
void for_each_chunk(const Problem& problem, std::vector<Worker>& workers, Body&& body) {
  const std::int64_t n = problem.dataset.samples;
  const std::int64_t d = problem.dataset.features;
  // Large enough to amortise scheduling, small enough to react to cancellation.
  constexpr std::int64_t kChunkOperations = std::int64_t{1} << 23;
  const std::int64_t chunk =
      kTile *
      std::clamp<std::int64_t>(kChunkOperations / (kTile * d * (problem.count + 1)), 1, 256);
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  const auto stop_requested = [&] {
    return problem.observer != nullptr && problem.observer->stop_requested();
  };
  std::atomic<bool> stopped = stop_requested();
  problem.team.for_each(std::ssize(workers), chunks, [&](int thread, std::int64_t at) {
    if (thread == 0 && stop_requested()) stopped = true;
    if (stopped) return;
    const lloyd::FloatEnvironment environment;
    body(thread, workers[static_cast<std::size_t>(thread)],
         lloyd::RowRange{at * chunk, std::min((at + 1) * chunk, n)});
  });
  if (stopped) throw lloyd::StatusError(lloyd::StatusCode::cancelled, "the seeding was cancelled");
}

// Splits `rows` into tiles and calls body(tile) for each; rows.begin must be a multiple of kTile.
template <class Body>
void for_each_tile(lloyd::RowRange rows, Body&& body) {
  for (std::int64_t i = rows.begin; i < rows.end; i += kTile) {
    body(lloyd::RowRange{i, std::min(i + kTile, rows.end)});
  }
}

std::size_t threads_for(const Problem& problem) {
  return static_cast<std::size_t>(useful_threads(problem.dataset.samples, problem.count,
                                                 problem.dataset.features, problem.team.threads()));
}

// Calls body(thread, worker) for each tile, after loading it into the worker of the thread, which
// screens it in floating point.
template <class T, class Real, class Body>
void for_each_float_tile(const Problem& problem, Body&& body) {
  using Worker = TileWorker<T, Real>;
  const std::vector<Real> screened(problem.centroids,
                                   problem.centroids + problem.count * problem.dataset.features);
  std::vector<Worker> workers(threads_for(problem), {problem, screened.data()});
  for_each_chunk(problem, workers, [&](int thread, Worker& worker, lloyd::RowRange chunk) {
    for_each_tile(chunk, [&](lloyd::RowRange tile) {
      worker.load(tile);
      body(thread, worker);
    });
  });
}

// Visitor of a NearestRequest: lowers the squared distance of a sample, and sets its nearest
// centroid if that is requested.
class NearestUpdate {
 public:
  explicit NearestUpdate(const lloyd::NearestRequest& request) : request_(request) {}

  void operator()(std::int64_t i, std::int64_t c, double distance) const {
    request_.squared_distances[i] = distance;
    if (request_.nearest == nullptr) return;
    request_.nearest[i] = static_cast<std::int32_t>(request_.first_index + c);
  }

 private:
  const lloyd::NearestRequest& request_;
};

template <class T, class Real>
void update_nearest(const Problem& problem, const lloyd::NearestRequest& request) {
  const NearestUpdate update(request);
  for_each_float_tile<T, Real>(problem, [&](int, TileWorker<T, Real>& worker) {
    if (request.count < kMinNearestFirst) {
      worker.visit_nearer(request.squared_distances, update);
    } else {
      worker.visit_nearest(request.squared_distances, update);
    }
  });
}

// The gains of a request, summed per thread.
class Gains {
 public:
  Gains(const lloyd::GainsRequest& request, int threads)
      : request_(request),
        sums_(static_cast<std::size_t>(threads),
              std::vector<std::int64_t>(static_cast<std::size_t>(request.count))) {}

  void add(int thread, std::int64_t i, std::int64_t c, double distance) {
    sums_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(c)] +=
        request_.scale.weight(request_.squared_distances[i]) - request_.scale.weight(distance);
  }

  void finish() const {
    std::fill_n(request_.gains, request_.count, 0);
    for (const auto& own : sums_) {
      for (std::size_t c = 0; c < own.size(); ++c) request_.gains[c] += own[c];
    }
  }

 private:
  const lloyd::GainsRequest& request_;
  std::vector<std::vector<std::int64_t>> sums_;
};

template <class T, class Real>
void add_gains(const Problem& problem, const lloyd::GainsRequest& request) {
  Gains gains(request, problem.team.threads());
  for_each_float_tile<T, Real>(problem, [&](int thread, TileWorker<T, Real>& worker) {
    worker.visit_nearer(request.squared_distances,
                        [&](std::int64_t i, std::int64_t c, double distance) {
                          gains.add(thread, i, c, distance);
                        });
  });
  gains.finish();
}

// The same with integers. Keeps the distances in `rated`, whose pass has begun, and records the
// pass in `samples`.
void add_gains(const Problem& problem, const lloyd::GainsRequest& request, RoundedSamples& samples,
               RatedCandidates& rated) {
  Gains gains(request, problem.team.threads());
  std::vector<IntegerWorker> workers(threads_for(problem), {problem, samples});
  for_each_chunk(problem, workers, [&](int thread, IntegerWorker& worker, lloyd::RowRange chunk) {
    const auto visit = [&](std::int64_t i, std::int64_t c, double distance) {
      gains.add(thread, i, c, distance);
      rated.add(thread, i, c, distance);
    };
    rated.keep(request.squared_distances, chunk.begin, chunk.size());
    for_each_tile(chunk, [&](lloyd::RowRange tile) {
      worker.visit_nearer(tile, request.squared_distances, visit);
    });
    worker.finish(request.squared_distances, visit);
  });
  rated.end();
  gains.finish();
  std::int64_t wasted = 0;
  for (const IntegerWorker& worker : workers) wasted += worker.wasted();
  samples.record_pass(problem.dataset.samples * problem.count, wasted);
}

bool is_float32(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace

bool OpenmpSeeding::supports(std::int64_t features) {
  return features <= ScreenBound<float>::kMaxFeatures;
}

OpenmpSeeding::OpenmpSeeding(const lloyd::DatasetView& dataset, lloyd::ThreadTeam& team,
                             InstructionSet set)
    : dataset_(dataset),
      team_(team),
      instruction_set_(set),
      in_float32_range_(lloyd::Float32Range(dataset).covers_differences()),
      rounded_(dataset, set) {}

std::int64_t OpenmpSeeding::stored_bytes(lloyd::DType dtype, std::int64_t n, std::int64_t d) {
  const std::int64_t rounded = dtype == lloyd::DType::float32 ? RoundedSamples::bytes(n, d) : 0;
  return rounded > 0 ? rounded + RatedCandidates::bytes(n) : 0;
}

void OpenmpSeeding::release() {
  rounded_.release();
  rated_.release();
}

bool OpenmpSeeding::begin_integer_pass(const lloyd::GainsRequest& request) {
  // Greedy k-means++ rates 5 candidates from 21 clusters on. With fewer, rounding the samples takes
  // longer than it saves.
  constexpr std::int64_t kMinCandidates = 5;
  rated_.clear();
  if (request.count < kMinCandidates || dataset_.dtype != lloyd::DType::float32 ||
      !in_float32_range_ || !rounded_.set_centroids(request.candidates, request.count)) {
    return false;
  }
  try {
    rated_.begin(request.candidates, request.count, dataset_.samples, dataset_.features,
                 team_.threads());
  } catch (const std::bad_alloc&) {
    release();
    return false;
  }
  return true;
}

// Float32 samples are screened in float32 if their squared distances neither overflow nor underflow
// and the centroids are float32 values.
template <class Task>
void OpenmpSeeding::dispatch(const double* centroids, std::int64_t count, Task&& task) const {
  if (dataset_.dtype == lloyd::DType::float64) {
    task.template operator()<double, double>();
  } else if (in_float32_range_ &&
             std::all_of(centroids, centroids + count * dataset_.features, is_float32)) {
    task.template operator()<float, float>();
  } else {
    task.template operator()<float, double>();
  }
}

lloyd::Status OpenmpSeeding::nearest(const lloyd::NearestRequest& request,
                                     lloyd::Observer* observer) noexcept {
  return lloyd::guarded([&] {
    const Problem problem{dataset_, request.centroids, request.count,
                          team_,    instruction_set_,  observer};
    if (request.count == 1) {
      const NearestUpdate update(request);
      const auto visit = [&](std::int64_t i, double distance) { update(i, 0, distance); };
      if (rated_.visit_nearer(request.centroids, request.squared_distances, team_, visit)) return;
    }
    dispatch(request.centroids, request.count,
             [&]<class T, class Real>() { update_nearest<T, Real>(problem, request); });
  });
}

lloyd::Status OpenmpSeeding::gains(const lloyd::GainsRequest& request,
                                   lloyd::Observer* observer) noexcept {
  return lloyd::guarded([&] {
    const Problem problem{dataset_, request.candidates, request.count,
                          team_,    instruction_set_,   observer};
    if (begin_integer_pass(request)) {
      add_gains(problem, request, rounded_, rated_);
      return;
    }
    dispatch(request.candidates, request.count,
             [&]<class T, class Real>() { add_gains<T, Real>(problem, request); });
  });
}

}  // namespace lloyd_openmp

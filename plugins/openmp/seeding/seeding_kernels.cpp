#include "seeding/seeding_kernels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/float32_range.hpp>
#include <lloyd/plugin/sdk/guard.hpp>

#include "common/useful_threads.hpp"
#include "seeding/distance_screen.hpp"

namespace lloyd_openmp {
namespace {

using lloyd::squared_distance;

// From this number of new centroids on, only the nearest of them is compared with a sample's
// current squared distance; fewer are all compared.
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

// One thread's state for screening tiles. T: type of the samples; Real: type of the screen.
template <class T, class Real>
class TileWorker {
 public:
  TileWorker(const Problem& problem, const Real* screened_centroids)
      : problem_(problem),
        screened_centroids_(screened_centroids),
        bound_(problem.dataset.features),
        origin_(static_cast<std::size_t>(problem.dataset.features)),
        tile_(static_cast<std::size_t>(problem.dataset.features)),
        below_(static_cast<std::size_t>(problem.count)) {}

  void load(lloyd::RowRange rows) {
    rows_ = rows;
    load_tile(problem_.instruction_set, row(rows.begin), problem_.dataset.stride, rows.size(),
              problem_.dataset.features, origin_.data(), tile_.data());
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

  // The same for many centroids: only the nearest one of each sample is visited.
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
      // By the definition, the nearest centroid is at most widen(lowest) away. So a centroid whose
      // screened distance exceeds widen(widen(lowest)) = `rival` is farther.
      const Real rival = bound_.widen(bound_.widen(nearest_.lowest.lanes[lane]));
      if (nearest_.second.lanes[lane] > rival) {
        decide(i, nearest_.index[lane], squared_distances, visit);
      } else {
        limits_.lanes[lane] = std::min(rival, limit);
        unproven = true;
      }
    }
    if (unproven) visit_below(squared_distances, visit);
  }

 private:
  const T* row(std::int64_t i) const {
    return static_cast<const T*>(problem_.dataset.data) + i * problem_.dataset.stride;
  }

  template <class Visit>
  void decide(std::int64_t i, std::int64_t c, const double* squared_distances,
              Visit&& visit) const {
    const std::int64_t d = problem_.dataset.features;
    const double distance = squared_distance(row(i), problem_.centroids + c * d, d);
    if (distance < squared_distances[i]) visit(i, c, distance);
  }

  template <class Visit>
  void visit_below(const double* squared_distances, Visit&& visit) {
    screen_below(problem_.instruction_set, tile_.data(), problem_.dataset.features,
                 screened_centroids_, problem_.count, limits_, below_.data());
    for (std::int64_t c = 0; c < problem_.count; ++c) {
      for (std::uint64_t left = below_[static_cast<std::size_t>(c)]; left != 0; left &= left - 1) {
        decide(rows_.begin + std::countr_zero(left), c, squared_distances, visit);
      }
    }
  }

  const Problem& problem_;
  const Real* screened_centroids_;
  ScreenBound<Real> bound_;
  std::vector<Real> origin_;  // zeros
  std::vector<TileVector<Real>> tile_;
  std::vector<std::uint64_t> below_;
  TileVector<Real> limits_{};
  TileNearest<Real> nearest_{};
  lloyd::RowRange rows_;
};

// Calls body(thread, worker) for each tile, after loading it into the worker of the thread.
template <class T, class Real, class Body>
void for_each_tile(const Problem& problem, Body&& body) {
  const std::int64_t n = problem.dataset.samples;
  const std::int64_t d = problem.dataset.features;
  const std::vector<Real> screened(problem.centroids, problem.centroids + problem.count * d);
  const int threads = useful_threads(n, problem.count, d, problem.team.threads());
  std::vector<TileWorker<T, Real>> workers(static_cast<std::size_t>(threads),
                                           {problem, screened.data()});
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
  problem.team.for_each(threads, chunks, [&](int thread, std::int64_t at) {
    if (thread == 0 && stop_requested()) stopped = true;
    if (stopped) return;
    const lloyd::FloatEnvironment environment;
    TileWorker<T, Real>& worker = workers[static_cast<std::size_t>(thread)];
    for (std::int64_t i = at * chunk; i < std::min((at + 1) * chunk, n); i += kTile) {
      worker.load({i, std::min(i + kTile, n)});
      body(thread, worker);
    }
  });
  if (stopped) throw lloyd::StatusError(lloyd::StatusCode::cancelled, "the seeding was cancelled");
}

template <class T, class Real>
void update_nearest(const Problem& problem, const lloyd::NearestRequest& request) {
  const auto update = [&](std::int64_t i, std::int64_t c, double distance) {
    request.squared_distances[i] = distance;
    if (request.nearest == nullptr) return;
    request.nearest[i] = static_cast<std::int32_t>(request.first_index + c);
  };
  for_each_tile<T, Real>(problem, [&](int, TileWorker<T, Real>& worker) {
    if (request.count < kMinNearestFirst) {
      worker.visit_nearer(request.squared_distances, update);
    } else {
      worker.visit_nearest(request.squared_distances, update);
    }
  });
}

template <class T, class Real>
void add_gains(const Problem& problem, const lloyd::GainsRequest& request) {
  std::vector<std::vector<std::int64_t>> sums(
      static_cast<std::size_t>(problem.team.threads()),
      std::vector<std::int64_t>(static_cast<std::size_t>(request.count)));
  for_each_tile<T, Real>(problem, [&](int thread, TileWorker<T, Real>& worker) {
    std::int64_t* own = sums[static_cast<std::size_t>(thread)].data();
    worker.visit_nearer(request.squared_distances, [&](std::int64_t i, std::int64_t c,
                                                       double distance) {
      own[c] += request.scale.weight(request.squared_distances[i]) - request.scale.weight(distance);
    });
  });
  std::fill_n(request.gains, request.count, 0);
  for (const auto& own : sums) {
    for (std::size_t c = 0; c < own.size(); ++c) request.gains[c] += own[c];
  }
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
      in_float32_range_(lloyd::Float32Range(dataset).covers_differences()) {}

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
    dispatch(request.centroids, request.count,
             [&]<class T, class Real>() { update_nearest<T, Real>(problem, request); });
  });
}

lloyd::Status OpenmpSeeding::gains(const lloyd::GainsRequest& request,
                                   lloyd::Observer* observer) noexcept {
  return lloyd::guarded([&] {
    const Problem problem{dataset_, request.candidates, request.count,
                          team_,    instruction_set_,   observer};
    dispatch(request.candidates, request.count,
             [&]<class T, class Real>() { add_gains<T, Real>(problem, request); });
  });
}

}  // namespace lloyd_openmp

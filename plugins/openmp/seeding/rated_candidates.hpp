// RatedCandidates: distances to candidates, kept from a pass of gains().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd_openmp {

/// For each candidate, the samples that are nearer to it than to any centroid so far, and their
/// squared distances. So the candidate that becomes a centroid needs no pass of its own.
class RatedCandidates {
 public:
  /// Begins a pass that rates `candidates` (m x d) of n samples on up to `threads` threads.
  void begin(const double* candidates, std::int64_t m, std::int64_t n, std::int64_t d,
             int threads) {
    clear();
    candidates_.assign(candidates, candidates + m * d);
    features_ = static_cast<std::size_t>(d);
    squared_distances_.resize(static_cast<std::size_t>(n));
    threads_.resize(static_cast<std::size_t>(threads));
    const auto max_found = static_cast<std::size_t>(n / kSamplesPerEntry / threads);
    for (PerThread& own : threads_) {
      own.overflowed = false;
      own.max_found = max_found;
      own.found.clear();
      own.found.reserve(max_found);
    }
  }

  /// Copies the squared distances, as they are before the pass, of `count` samples from sample
  /// `begin` on.
  void keep(const double* squared_distances, std::int64_t begin, std::int64_t count) {
    std::memcpy(squared_distances_.data() + begin, squared_distances + begin,
                static_cast<std::size_t>(count) * sizeof(double));
  }

  /// Called on thread `thread`: candidate c is at this squared distance from sample i, and nearer
  /// than all centroids so far.
  void add(int thread, std::int64_t i, std::int64_t c, double squared_distance) {
    PerThread& own = threads_[static_cast<std::size_t>(thread)];
    own.overflowed = own.overflowed || own.found.size() == own.max_found;
    if (!own.overflowed) own.found.push_back({i, c, squared_distance});
  }

  /// Completes the pass.
  void end() {
    complete_ = true;
    for (const PerThread& own : threads_) complete_ = complete_ && !own.overflowed;
  }

  void clear() { complete_ = false; }

  /// Frees all memory.
  void release() { *this = {}; }

  /// Calls visit(i, squared_distance) for each sample i whose squared distance to `centroid` is
  /// below squared_distances[i], in any order. Returns false, without a call, unless the last pass
  /// is complete, `centroid` was one of its candidates, and `squared_distances` is bit-identical
  /// to what keep() received.
  template <class Visit>
  bool visit_nearer(const double* centroid, const double* squared_distances,
                    lloyd::ThreadTeam& team, Visit&& visit) const {
    if (!complete_) return false;
    std::size_t c = 0;
    for (; c * features_ < candidates_.size(); ++c) {
      if (std::memcmp(centroid, candidates_.data() + c * features_, features_ * sizeof(double)) ==
          0)
        break;
    }
    if (c * features_ == candidates_.size() || !is_unchanged(squared_distances, team)) return false;
    for (const PerThread& own : threads_) {
      for (const Found& found : own.found) {
        if (found.candidate == static_cast<std::int64_t>(c))
          visit(found.sample, found.squared_distance);
      }
    }
    return true;
  }

  /// Bytes for n samples.
  static std::int64_t bytes(std::int64_t n) {
    return n * static_cast<std::int64_t>(sizeof(double)) +
           n / kSamplesPerEntry * static_cast<std::int64_t>(sizeof(Found));
  }

 private:
  // In the first passes nearly all samples are nearer to a candidate than to any centroid; a list
  // of all of them would take more memory than the data.
  static constexpr std::int64_t kSamplesPerEntry = 4;

  struct Found {
    std::int64_t sample, candidate;
    double squared_distance;
  };
  struct alignas(64) PerThread {
    std::vector<Found> found;
    std::size_t max_found = 0;
    bool overflowed = false;
  };

  bool is_unchanged(const double* squared_distances, lloyd::ThreadTeam& team) const {
    constexpr std::size_t kBlock = std::size_t{1} << 15;
    const std::size_t n = squared_distances_.size();
    std::atomic<bool> same = true;
    const auto blocks = static_cast<std::int64_t>((n + kBlock - 1) / kBlock);
    team.for_each(team.threads(), blocks, [&](int, std::int64_t b) {
      const std::size_t begin = static_cast<std::size_t>(b) * kBlock;
      const std::size_t bytes = std::min(kBlock, n - begin) * sizeof(double);
      if (std::memcmp(squared_distances + begin, squared_distances_.data() + begin, bytes) != 0)
        same = false;
    });
    return same;
  }

  bool complete_ = false;
  std::size_t features_ = 0;
  std::vector<double> candidates_;         // m x d
  std::vector<double> squared_distances_;  // n
  std::vector<PerThread> threads_;
};

}  // namespace lloyd_openmp

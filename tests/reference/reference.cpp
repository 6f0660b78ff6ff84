#include "reference.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace lloyd::reference {

void FullSum::add(double value) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < size_; ++at) {
    double partial = partials_[at];
    if (std::abs(value) < std::abs(partial)) std::swap(value, partial);
    const double high = value + partial;
    const double low = partial - (high - value);
    if (low != 0) partials_[kept++] = low;
    value = high;
  }
  if (value != 0) partials_.at(kept++) = value;
  size_ = kept;
}

double FullSum::value() const {
  std::size_t rest = size_;
  if (rest == 0) return 0;
  double high = partials_[--rest];
  double low = 0;
  while (rest > 0 && low == 0) {
    const double former = high;
    const double partial = partials_[--rest];
    high = former + partial;
    low = partial - (high - former);
  }
  // A remainder of exactly half a unit was rounded to even; lower partials may require the other
  // direction.
  if (rest > 0 && low != 0 && (low < 0) == (partials_[rest - 1] < 0)) {
    const double doubled = 2 * low;
    const double other = high + doubled;
    if (other - high == doubled) high = other;
  }
  return high;
}

std::vector<std::vector<std::int64_t>> rows_by_cluster(const std::vector<std::int32_t>& members,
                                                       std::int64_t k) {
  std::vector<std::vector<std::int64_t>> rows(k);
  for (std::size_t i = 0; i < members.size(); ++i) {
    rows[members[i]].push_back(static_cast<std::int64_t>(i));
  }
  return rows;
}

double squared_distance(const double* x, const double* c, std::int64_t d) {
  double sum = 0;
  for (std::int64_t j = 0; j < d; ++j) {
    const double difference = x[j] - c[j];
    const double square = difference * difference;
    sum = sum + square;
  }
  return sum;
}

std::int32_t nearest(const double* x, const std::vector<double>& centroids, std::int64_t d) {
  const auto k = static_cast<std::int64_t>(centroids.size()) / d;
  std::int64_t best = 0;
  double least = squared_distance(x, centroids.data(), d);
  for (std::int64_t c = 1; c < k; ++c) {
    const double distance = squared_distance(x, centroids.data() + c * d, d);
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  return static_cast<std::int32_t>(best);
}

double inertia(const Samples& samples, const std::vector<double>& centroids,
               const std::vector<std::int32_t>& labels) {
  FullSum sum;
  for (std::int64_t i = 0; i < samples.n; ++i) {
    sum.add(squared_distance(samples.row(i), centroids.data() + labels[i] * samples.d, samples.d));
  }
  return sum.value();
}

namespace {

// The farthest sample that may leave its cluster, or -1. Samples that were taken already have a
// `members` entry that differs from their label.
std::int64_t farthest_eligible(const Samples& samples, const std::vector<double>& centroids,
                               const std::vector<std::int32_t>& labels, const Update& state) {
  std::int64_t best = -1;
  double greatest = 0;
  for (std::int64_t i = 0; i < samples.n; ++i) {
    if (state.members[i] != labels[i] || state.counts[labels[i]] < 2) continue;
    const double distance =
        squared_distance(samples.row(i), centroids.data() + labels[i] * samples.d, samples.d);
    if (distance > greatest) {
      greatest = distance;
      best = i;
    }
  }
  return best;
}

}  // namespace

Update update(const Samples& samples, const std::vector<double>& centroids,
              const std::vector<std::int32_t>& labels, EmptyPolicy policy) {
  const std::int64_t d = samples.d;
  const auto k = static_cast<std::int64_t>(centroids.size()) / d;
  Update result;
  result.members = labels;
  result.counts.assign(k, 0);
  for (const std::int32_t label : labels) ++result.counts[label];
  for (std::int64_t c = 0; c < k; ++c) {
    if (result.counts[c] > 0 || policy == EmptyPolicy::keep) continue;
    if (policy == EmptyPolicy::error) {
      throw EmptyCluster("cluster " + std::to_string(c) + " is empty");
    }
    const std::int64_t i = farthest_eligible(samples, centroids, labels, result);
    if (i < 0) continue;
    --result.counts[labels[i]];
    ++result.counts[c];
    result.members[i] = static_cast<std::int32_t>(c);
    ++result.relocations;
  }

  const std::vector<std::vector<std::int64_t>> rows = rows_by_cluster(result.members, k);
  result.centroids = centroids;
  for (std::int64_t c = 0; c < k; ++c) {
    if (rows[c].empty()) continue;
    for (std::int64_t j = 0; j < d; ++j) {
      FullSum sum;
      for (const std::int64_t i : rows[c]) sum.add(samples.row(i)[j]);
      result.centroids[c * d + j] = sum.value() / static_cast<double>(rows[c].size());
    }
  }
  return result;
}

// Sums every 1024th value, starting at each of the first 1024, then adds these sums pairwise by
// halves.
double shift(const std::vector<double>& from, const std::vector<double>& to) {
  std::vector<double> sums(1024);
  for (std::size_t at = 0; at < from.size(); ++at) {
    const double move = to[at] - from[at];
    const double square = move * move;
    sums[at % sums.size()] = sums[at % sums.size()] + square;
  }
  while (sums.size() > 1) {
    const std::size_t half = sums.size() / 2;
    for (std::size_t at = 0; at < half; ++at) sums[at] = sums[at] + sums[half + at];
    sums.resize(half);
  }
  return sums[0];
}

Fit fit(const Samples& samples, const Settings& settings) {
  Fit result;
  result.centroids = settings.initial_centroids;
  result.labels.assign(samples.n, -1);
  const auto assign = [&] {
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < samples.n; ++i) {
      const std::int32_t label = nearest(samples.row(i), result.centroids, samples.d);
      if (label != result.labels[i]) ++changed;
      result.labels[i] = label;
    }
    return changed;
  };

  for (bool stopped = false; !stopped;) {
    Iteration iteration;
    iteration.changed = assign();
    iteration.labels = result.labels;
    iteration.inertia = inertia(samples, result.centroids, result.labels);
    Update next = update(samples, result.centroids, result.labels, settings.empty);
    iteration.relocations = next.relocations;
    iteration.centroids = next.centroids;
    iteration.shift = shift(result.centroids, next.centroids);
    result.centroids = std::move(next.centroids);
    ++result.iterations;

    stopped = true;
    const bool may_converge = !settings.fixed && iteration.relocations == 0;
    if (may_converge && iteration.changed == 0) {
      result.stop = Stop::labels;
    } else if (may_converge && settings.tolerance > 0 && iteration.shift <= settings.tolerance) {
      result.stop = Stop::tolerance;
    } else if (result.iterations >= settings.max_iterations) {
      result.stop = Stop::max_iterations;
    } else {
      stopped = false;
    }
    result.trace.push_back(std::move(iteration));
  }

  assign();  // the closing assignment: labels, counts and inertia of the returned centroids
  result.inertia = inertia(samples, result.centroids, result.labels);
  result.counts.assign(settings.k, 0);
  for (const std::int32_t label : result.labels) ++result.counts[label];
  return result;
}

}  // namespace lloyd::reference

// SeedingKernels, if a backend provides them: their results have the bits of a plain loop over the
// definition.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <lloyd/plugin/abi/resident_seeding.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>

#include "conformance/support/cases.hpp"
#include "conformance/support/comparisons.hpp"
#include "conformance/support/computed_once.hpp"
#include "conformance/support/trial.hpp"

namespace lloyd::conformance {
namespace {

struct Named {
  const char* name;
  Samples samples;
};

Samples with_outlier(Samples samples, double value) {
  samples.values[samples.values.size() / 2] = value;
  return samples;
}

// Twins: each sample also appears with every value changed by one unit in the last place. Rounding
// cannot resolve the difference of their distances.
template <class T>
Samples near_twins(const Samples& singles) {
  Samples twins{2 * singles.n, singles.d, {}};
  for (std::int64_t i = 0; i < twins.n; ++i) {
    for (std::int64_t j = 0; j < singles.d; ++j) {
      const auto value = static_cast<T>(singles.row(i / 2)[j]);
      const T towards = j % 2 == 0 ? T{100} : T{-100};
      twins.values.push_back(i % 2 == 0 ? value : std::nextafter(value, towards));
    }
  }
  return twins;
}

// Shapes around powers of two, ties, and data for which approximate arithmetic fails.
std::vector<Named> data_sets(DType dtype) {
  const bool narrow = dtype == DType::float32;
  std::vector<Named> sets = {
      {"one sample", lattice(1, 1, 9, 1)},
      {"63 samples", cloud(63, 5, 2)},
      {"64 samples", cloud(64, 4, 3)},
      {"65 samples", cloud(65, 1, 4)},
      {"a cloud", cloud(3001, 7, 5)},
      {"blobs", blobs(4200, 16, 40, 0.5, 6)},
      {"many features", cloud(130, 200, 7)},
      {"ties and duplicates", lattice(1500, 3, 2, 8)},
      {"constant", lattice(200, 3, 0, 9)},
      {"near twins",
       narrow ? near_twins<float>(cloud(107, 16, 18)) : near_twins<double>(cloud(107, 16, 18))},
      {"far from the origin", transformed(cloud(700, 4, 10), 1e-3, 4096)},
      {"squares beyond the type", transformed(cloud(700, 4, 11), narrow ? 1e36 : 1e143, 0)},
      {"squares at the type's end", transformed(cloud(700, 1, 12), narrow ? 2.3e18 : 1e144, 0)},
      {"denormal squares", transformed(cloud(700, 4, 13), narrow ? 1e-23 : 1e-162, 0)},
      {"denormal values", transformed(cloud(700, 4, 14), narrow ? 1e-44 : 1e-322, 0)},
      {"a wide range", wide_range(900, 3, narrow ? 1e15 : 1e60, 15)},
      {"an outlier", with_outlier(cloud(900, 3, 16), narrow ? 1e30 : 1e140)},
  };
  for (Named& set : sets) set.samples = rounded(std::move(set.samples), dtype);
  return sets;
}

// m centroids: either rows spread over the data (consecutive ones if n divides 7918, as for the
// twins), or midpoints of two rows, which float32 may not represent exactly.
std::vector<double> centroids_of(const Samples& samples, std::int64_t m, std::int64_t from,
                                 bool between) {
  std::vector<double> centroids;
  for (std::int64_t c = 0; c < m; ++c) {
    const double* one = samples.row((from + c * 7919) % samples.n);
    const double* other = samples.row((from + c * 104729 + 1) % samples.n);
    for (std::int64_t j = 0; j < samples.d; ++j) {
      centroids.push_back(between ? one[j] / 2 + other[j] / 2 : one[j]);
    }
  }
  return centroids;
}

class Opened {
 public:
  Opened(const Context& context, const Samples& samples, Layout layout = {})
      : samples_(samples),
        dtype_(context.dtype()),
        dataset_(make_dataset(samples, dtype_, layout)),
        session_(context.open(dataset_, 1)),
        kernels_(static_cast<SeedingKernels*>(session_->query(kSeedingKernels))) {
    if (kernels_ == nullptr) throw CaseSkipped{"the backend offers no seeding kernels"};
  }

  SeedingKernels& kernels() const { return *kernels_; }
  const Samples& samples() const { return samples_; }
  DType dtype() const { return dtype_; }
  double distance(std::int64_t i, const std::vector<double>& centroids, std::int64_t c) const {
    return reference::squared_distance(samples_.row(i), centroids.data() + c * samples_.d,
                                       samples_.d);
  }

 private:
  const Samples& samples_;
  DType dtype_;
  Dataset dataset_;
  OwnedSession session_;
  SeedingKernels* kernels_;
};

struct State {
  explicit State(std::int64_t n) : distances(n, kInfinity), nearest(n, 0) {}
  std::vector<double> distances;
  std::vector<std::int32_t> nearest;
};

// Compares one call with a plain loop; `state` is updated. `where` must be unique within the suite.
void fold(const std::string& where, const Opened& opened, const std::vector<double>& centroids,
          std::int64_t first, bool wants_nearest, State& state) {
  const Samples& samples = opened.samples();
  const auto m = static_cast<std::int64_t>(centroids.size()) / samples.d;
  Fenced<double> distances(samples.n);
  Fenced<std::int32_t> nearest(samples.n);
  std::copy(state.distances.begin(), state.distances.end(), distances.data());
  std::copy(state.nearest.begin(), state.nearest.end(), nearest.data());
  NearestRequest request;
  request.centroids = centroids.data();
  request.count = m;
  request.first_index = first;
  request.squared_distances = distances.data();
  request.nearest = wants_nearest ? nearest.data() : nullptr;
  const Status status = opened.kernels().nearest(request, nullptr);
  expect(status.ok(), "{}: nearest() failed: {}", where, status_message(status));
  state = computed_once<State>(opened.dtype(), where, [&] {
    State expected = state;
    for (std::int64_t i = 0; i < samples.n; ++i) {
      for (std::int64_t c = 0; c < m; ++c) {
        const double distance = opened.distance(i, centroids, c);
        if (!(distance < expected.distances[i])) continue;
        expected.distances[i] = distance;
        if (wants_nearest) expected.nearest[i] = static_cast<std::int32_t>(first + c);
      }
    }
    return expected;
  });
  const std::vector<double> got = distances.take("squared distances of nearest()");
  for (std::int64_t i = 0; i < samples.n; ++i) {
    expect(same_bits(got[i], state.distances[i]),
           "{}: the squared distance of sample {} is {}, expected {}", where, i, got[i],
           state.distances[i]);
  }
  const std::vector<std::int32_t> indices = nearest.take("indices of nearest()");
  for (std::int64_t i = 0; i < samples.n; ++i) {
    expect(indices[i] == state.nearest[i],
           "{}: the nearest centroid of sample {} is {}, expected {}", where, i, indices[i],
           state.nearest[i]);
  }
}

void nearest(const Context& context) {
  for (const Named& set : data_sets(context.dtype())) {
    for (const bool between : {false, true}) {
      const Opened opened(context, set.samples, between ? Layout{3, 1} : Layout{});
      const auto centroids = [&](std::int64_t m, std::int64_t from) {
        return centroids_of(set.samples, m, from, between);
      };
      const auto where = [&](const char* what) {
        return fmt::format("{}{}, {}", set.name, between ? ", centroids between samples" : "",
                           what);
      };
      State state(set.samples.n);
      fold(where("a first centroid"), opened, centroids(1, 3), 0, true, state);
      fold(where("4 more"), opened, centroids(4, 5), 1, true, state);
      fold(where("150 more"), opened, centroids(150, 11), 5, true, state);
      fold(where("one more, without indices"), opened, centroids(1, 2), 155, false, state);
      State many(set.samples.n);
      fold(where("37 at once"), opened, centroids(37, 0), 1000, true, many);
      fold(where("the same once more"), opened, centroids(37, 0), 2000, true, many);
    }
  }
}

// Squared distances to these centroids exceed float32 and decrease from call to call.
void far_centroids(const Context& context) {
  const Samples samples = rounded(cloud(300, 3, 19), context.dtype());
  const Opened opened(context, samples);
  for (const std::int64_t m : {1, 30}) {
    State state(samples.n);
    std::int64_t first = 0;
    for (const float reach : {3e33F, 1e30F, 2e19F, 1e19F, 1e10F}) {
      const std::vector<double> centroids(static_cast<std::size_t>(m * samples.d), reach);
      fold(fmt::format("{} centroids at {}", m, reach), opened, centroids, first, true, state);
      first += m;
    }
  }
}

// A scale as documented for WeightScale.
WeightScale scale_for(const std::vector<double>& distances) {
  const double largest = *std::max_element(distances.begin(), distances.end());
  if (largest == 0) return {};
  const int exponent =
      62 - std::ilogb(largest) - static_cast<int>(std::bit_width(distances.size()));
  return {std::ldexp(1.0, exponent / 2), std::ldexp(1.0, exponent - exponent / 2)};
}

void gains(const Context& context) {
  for (const Named& set : data_sets(context.dtype())) {
    const Samples& samples = set.samples;
    const Opened opened(context, samples);
    State state(samples.n);
    fold(set.name, opened, centroids_of(samples, 2, 1, false), 0, true, state);
    const WeightScale scale = scale_for(state.distances);
    for (const std::int64_t m : {1, 3, 9, 40, 130}) {
      for (const bool between : {false, true}) {
        const std::vector<double> candidates = centroids_of(samples, m, 3, between);
        Fenced<std::int64_t> got(m);
        GainsRequest request;
        request.candidates = candidates.data();
        request.count = m;
        request.squared_distances = state.distances.data();
        request.scale = scale;
        request.gains = got.data();
        const Status status = opened.kernels().gains(request, nullptr);
        expect(status.ok(), "{}: gains() failed: {}", set.name, status_message(status));
        const std::vector<std::int64_t> values = got.take("gains()");
        const auto gain_of = [&](std::int64_t c) {
          std::int64_t gain = 0;
          for (std::int64_t i = 0; i < samples.n; ++i) {
            const double least = std::min(state.distances[i], opened.distance(i, candidates, c));
            gain += scale.weight(state.distances[i]) - scale.weight(least);
          }
          return gain;
        };
        const std::string where =
            fmt::format("{}, {} candidates{}", set.name, m, between ? " between samples" : "");
        const auto expected = computed_once<std::vector<std::int64_t>>(opened.dtype(), where, [&] {
          std::vector<std::int64_t> gains;
          for (std::int64_t c = 0; c < m; ++c) gains.push_back(gain_of(c));
          return gains;
        });
        for (std::int64_t c = 0; c < m; ++c) {
          expect(values[c] == expected[c], "{}: the gain of candidate {} is {}, expected {}", where,
                 c, values[c], expected[c]);
        }
      }
    }
  }
}

// A cancellation request ends both calls, and the session stays usable.
void cancelled(const Context& context) {
  const Samples samples = rounded(cloud(5000, 8, 17), context.dtype());
  const Opened opened(context, samples);
  State state(samples.n);
  const std::vector<double> centroids = centroids_of(samples, 30, 1, false);
  fold("before a cancelled call", opened, centroids, 0, true, state);
  Recorder recorder(samples.n, 0);
  recorder.stop = true;
  State scratch = state;
  NearestRequest folding;
  folding.centroids = centroids.data();
  folding.count = 30;
  folding.squared_distances = scratch.distances.data();
  std::vector<std::int64_t> values(30);
  GainsRequest rating;
  rating.candidates = centroids.data();
  rating.count = 30;
  rating.squared_distances = state.distances.data();
  rating.gains = values.data();
  for (const Status& status :
       {opened.kernels().nearest(folding, &recorder), opened.kernels().gains(rating, &recorder)}) {
    expect(status.code == StatusCode::cancelled,
           "stop_requested from the start: the status is '{}' ({}), expected '{}'",
           name_of(status.code), status_message(status), name_of(StatusCode::cancelled));
  }
  fold("after a cancelled call", opened, centroids_of(samples, 5, 2, false), 30, true, state);
}

// A seeding that stays in the session: the results of each call, for a sequence of samples.
void resident(const Context& context) {
  for (const Named& set : data_sets(context.dtype())) {
    const Samples& samples = set.samples;
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession session = context.open(dataset, 1);
    auto* const seeding = static_cast<ResidentSeeding*>(session->query(kResidentSeeding));
    if (seeding == nullptr) throw CaseSkipped{"the backend keeps no seeding in its session"};
    const auto expect_ok = [&](const char* call, const Status& status) {
      expect(status.ok(), "{}: {} failed: {}", set.name, call, status_message(status));
    };
    const auto distance = [&](std::int64_t i, std::int64_t row) {
      return reference::squared_distance(samples.row(i), samples.row(row), samples.d);
    };
    for (int again = 0; again < 2; ++again) {
      expect_ok("begin_seeding()", seeding->begin_seeding());
      std::vector<double> distances(static_cast<std::size_t>(samples.n), kInfinity);
      for (int step = 0; step < 4; ++step) {
        const std::int64_t chosen = (again + 1 + step * 7919) % samples.n;
        double largest = -7;
        expect_ok("add()", seeding->add(chosen, nullptr, &largest));
        for (std::int64_t i = 0; i < samples.n; ++i) {
          distances[i] = std::min(distances[i], distance(i, chosen));
        }
        const double expected = *std::max_element(distances.begin(), distances.end());
        expect(same_bits(largest, expected),
               "{}: the largest squared distance after {} samples is {}, expected {}", set.name,
               step + 1, largest, expected);
        if (expected == 0) break;

        const WeightScale scale = scale_for(distances);
        std::vector<std::int64_t> cumulative;
        for (const double value : distances) {
          cumulative.push_back((cumulative.empty() ? 0 : cumulative.back()) + scale.weight(value));
        }
        std::int64_t total = -7;
        expect_ok("weigh()", seeding->weigh(scale, nullptr, &total));
        expect(total == cumulative.back(), "{}: the weights add up to {}, expected {}", set.name,
               total, cumulative.back());

        std::vector<std::int64_t> positions = {0, total - 1, total / 2};
        for (std::int64_t i = 0; i < samples.n; i += 1 + samples.n / 9) {
          if (cumulative[i] < total) positions.push_back(cumulative[i]);
          if (cumulative[i] > 0) positions.push_back(cumulative[i] - 1);
        }
        Fenced<std::int64_t> found(std::ssize(positions));
        expect_ok("find()", seeding->find(positions.data(), std::ssize(positions), found.data()));
        const std::vector<std::int64_t> rows = found.take("rows of find()");
        for (std::size_t p = 0; p < positions.size(); ++p) {
          const auto row = std::upper_bound(cumulative.begin(), cumulative.end(), positions[p]) -
                           cumulative.begin();
          expect(rows[p] == row, "{}: find() gives row {} for position {}, expected {}", set.name,
                 rows[p], positions[p], row);
        }

        Fenced<std::int64_t> gained(std::ssize(rows));
        expect_ok("rate()", seeding->rate(rows.data(), std::ssize(rows), nullptr, gained.data()));
        const std::vector<std::int64_t> gains = gained.take("gains of rate()");
        for (std::size_t r = 0; r < rows.size(); ++r) {
          std::int64_t gain = 0;
          for (std::int64_t i = 0; i < samples.n; ++i) {
            const double least = std::min(distances[i], distance(i, rows[r]));
            gain += scale.weight(distances[i]) - scale.weight(least);
          }
          expect(gains[r] == gain, "{}: the gain of row {} is {}, expected {}", set.name, rows[r],
                 gains[r], gain);
        }
      }
      if (again == 0) seeding->end_seeding();
    }
  }
}

// Calls out of order and rows that do not exist are refused, and a new seeding can follow.
void resident_refusals(const Context& context) {
  const Samples samples = rounded(cloud(100, 3, 20), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 1);
  auto* const seeding = static_cast<ResidentSeeding*>(session->query(kResidentSeeding));
  if (seeding == nullptr) throw CaseSkipped{"the backend keeps no seeding in its session"};
  double largest = 0;
  std::int64_t number = 0;
  const std::int64_t row = 0;
  const auto refused = [&](const char* what, const Status& status) {
    expect(status.code == StatusCode::invalid_argument,
           "{}: the status is '{}' ({}), expected '{}'", what, name_of(status.code),
           status_message(status), name_of(StatusCode::invalid_argument));
  };
  refused("add() before begin_seeding()", seeding->add(0, nullptr, &largest));
  for (const std::int64_t wrong : {std::int64_t{-1}, samples.n}) {
    expect(seeding->begin_seeding().ok(), "begin_seeding() failed");
    refused("add() of a row that does not exist", seeding->add(wrong, nullptr, &largest));
    refused("add() after an error", seeding->add(0, nullptr, &largest));
  }
  expect(seeding->begin_seeding().ok(), "begin_seeding() failed");
  refused("weigh() before add()", seeding->weigh({}, nullptr, &number));
  expect(seeding->begin_seeding().ok(), "begin_seeding() failed");
  expect(seeding->add(0, nullptr, &largest).ok(), "add() failed");
  refused("find() before weigh()", seeding->find(&row, 1, &number));
  expect(seeding->begin_seeding().ok(), "begin_seeding() failed");
  expect(seeding->add(0, nullptr, &largest).ok(), "add() failed");
  refused("rate() before weigh()", seeding->rate(&row, 1, nullptr, &number));
  seeding->end_seeding();
  seeding->end_seeding();
}

}  // namespace

void add_seeding_cases(std::vector<Case>& cases) {
  cases.push_back({"seeding/nearest", Scope::variants, nearest});
  cases.push_back({"seeding/far-centroids", Scope::variants, far_centroids});
  cases.push_back({"seeding/gains", Scope::variants, gains});
  cases.push_back({"seeding/cancel", Scope::defaults, cancelled});
  cases.push_back({"seeding/resident", Scope::variants, resident});
  cases.push_back({"seeding/resident-refusals", Scope::defaults, resident_refusals});
}

}  // namespace lloyd::conformance

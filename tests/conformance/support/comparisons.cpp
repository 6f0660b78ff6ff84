#include "conformance/support/comparisons.hpp"

#include <algorithm>
#include <bit>

namespace lloyd::conformance {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void expect_same(const std::string& where, std::int64_t d, const std::vector<double>& expected,
                 const std::vector<double>& got) {
  expect(expected.size() == got.size(), "{}: {} values, expected {}", where, got.size(),
         expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) {
    expect(same_bits(expected[at], got[at]),
           "{}: cluster {} feature {} is {} ({:a}), expected {} ({:a})", where,
           static_cast<std::int64_t>(at) / d, static_cast<std::int64_t>(at) % d, got[at], got[at],
           expected[at], expected[at]);
  }
}

void expect_same_labels(const std::string& where, const std::vector<std::int32_t>& expected,
                        const std::vector<std::int32_t>& got) {
  expect(expected.size() == got.size(), "{}: {} labels, expected {}", where, got.size(),
         expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    expect(expected[i] == got[i], "{}: the label of row {} is {}, expected {}", where, i, got[i],
           expected[i]);
  }
}

void expect_same_counts(const std::string& where, const std::vector<std::int64_t>& expected,
                        const std::vector<std::int64_t>& got) {
  expect(expected.size() == got.size(), "{}: {} counts, expected {}", where, got.size(),
         expected.size());
  for (std::size_t c = 0; c < got.size(); ++c) {
    expect(expected[c] == got[c], "{}: the count of cluster {} is {}, expected {}", where, c,
           got[c], expected[c]);
  }
}

void expect_same(const std::string& where, const char* what, double expected, double got) {
  expect(same_bits(expected, got), "{}: {} is {} ({:a}), expected {} ({:a})", where, what, got, got,
         expected, expected);
}

void expect_same_fit(const std::string& where, std::int64_t d, const Trial& expected,
                     const Trial& got) {
  expect(got.result.iterations == expected.result.iterations, "{}: {} iterations, expected {}",
         where, got.result.iterations, expected.result.iterations);
  expect_same(where + ", centroids", d, expected.centroids, got.centroids);
  expect_same_labels(where, expected.labels, got.labels);
  expect_same_counts(where, expected.counts, got.counts);
  expect_same(where, "the inertia", expected.result.inertia, got.result.inertia);
  expect(got.result.relocations == expected.result.relocations, "{}: {} relocations, expected {}",
         where, got.result.relocations, expected.result.relocations);
  expect(got.result.stop_reason == expected.result.stop_reason,
         "{}: the stop reason is '{}', expected '{}'", where, to_string(got.result.stop_reason),
         to_string(expected.result.stop_reason));
}

std::string name_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::invalid_argument:
      return "invalid_argument";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::unavailable:
      return "unavailable";
    case StatusCode::out_of_memory:
      return "out_of_memory";
    case StatusCode::empty_cluster:
      return "empty_cluster";
    case StatusCode::device_error:
      return "device_error";
    case StatusCode::internal:
      return "internal";
  }
  return std::to_string(static_cast<std::int32_t>(code));
}

reference::EmptyPolicy reference_policy(EmptyClusters policy) {
  switch (policy) {
    case EmptyClusters::relocate:
      return reference::EmptyPolicy::relocate;
    case EmptyClusters::keep:
      return reference::EmptyPolicy::keep;
    case EmptyClusters::error:
      return reference::EmptyPolicy::error;
  }
  return reference::EmptyPolicy::relocate;
}

reference::Settings reference_settings(const Setting& setting) {
  reference::Settings settings;
  settings.k = setting.clusters;
  settings.initial_centroids = setting.centroids;
  settings.max_iterations = setting.max_iterations;
  settings.fixed = setting.fixed;
  settings.tolerance = setting.tolerance;
  settings.empty = reference_policy(setting.empty);
  return settings;
}

namespace {

StopReason stop_reason_of(reference::Stop stop) {
  switch (stop) {
    case reference::Stop::labels:
      return StopReason::labels;
    case reference::Stop::tolerance:
      return StopReason::tolerance;
    case reference::Stop::max_iterations:
      return StopReason::max_iterations;
  }
  return StopReason::none;
}

void expect_iteration_bits(const std::string& at, std::int64_t d,
                           const reference::Iteration& expected, const Observed& got) {
  expect_same_labels(at, expected.labels, got.labels);
  expect(got.record.changed == expected.changed, "{}: changed is {}, expected {}", at,
         got.record.changed, expected.changed);
  expect(got.record.relocations == expected.relocations, "{}: {} relocations, expected {}", at,
         got.record.relocations, expected.relocations);
  expect_same(at, "the inertia", expected.inertia, got.record.inertia);
  expect_same(at + ", centroids", d, expected.centroids, got.centroids);
  expect_same(at, "the shift", expected.shift, got.record.shift);
}

}  // namespace

void expect_reference_bits(const std::string& where, std::int64_t d, const reference::Fit& expected,
                           const Trial& trial) {
  const std::size_t common = std::min(expected.trace.size(), trial.trace.size());
  for (std::size_t t = 0; t < common; ++t) {
    expect_iteration_bits(fmt::format("{} against the reference, iteration {}", where, t + 1), d,
                          expected.trace[t], trial.trace[t]);
  }
  Trial wanted;
  wanted.centroids = expected.centroids;
  wanted.labels = expected.labels;
  wanted.counts = expected.counts;
  wanted.result.inertia = expected.inertia;
  wanted.result.iterations = expected.iterations;
  wanted.result.relocations = 0;
  for (const auto& iteration : expected.trace) wanted.result.relocations += iteration.relocations;
  wanted.result.stop_reason = stop_reason_of(expected.stop);
  expect_same_fit(where + " against the reference", d, wanted, trial);
}

void expect_reference_bits(const std::string& where, const Samples& samples, const Setting& setting,
                           const Trial& trial) {
  expect_reference_bits(where, samples.d, reference::fit(samples, reference_settings(setting)),
                        trial);
}

}  // namespace lloyd::conformance

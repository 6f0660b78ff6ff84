// Samples in device memory, for backends that read them: the same bits as for the same samples in
// host memory.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/seeding.hpp>

#include "conformance/interface/device_trial.hpp"
#include "conformance/interface/pass_trial.hpp"

namespace lloyd::conformance {
namespace {

Setting setting_of(const Samples& samples, std::int64_t clusters) {
  Setting setting;
  setting.clusters = clusters;
  setting.centroids = first_rows(samples, clusters);
  setting.max_iterations = 8;
  return setting;
}

// Moves the last centroids far away, so that their clusters are empty and take samples.
Setting with_empty_clusters(Setting setting, std::int64_t count, std::int64_t d, double where) {
  const auto cells = static_cast<std::size_t>(count * d);
  std::fill(setting.centroids.end() - static_cast<std::ptrdiff_t>(cells), setting.centroids.end(),
            where);
  setting.empty = EmptyClusters::relocate;
  return setting;
}

// The bits of the statistics of a feature.
auto words_of(const FeatureStatistics& feature) {
  return std::bit_cast<std::array<std::uint64_t, sizeof(FeatureStatistics) / 8>>(feature);
}

void statistics(const Context& context) {
  const DType dtype = context.dtype();
  Samples zeros = lattice(5000, 2, 1, 121);
  for (double& value : zeros.values) value = std::copysign(0.0, value);
  const std::vector<std::pair<Samples, Layout>> sets = {
      {cloud(1, 1, 122), {}},
      {cloud(4096, 3, 123), {}},
      {cloud(4097, 7, 124), {3, 1}},
      {cloud(20011, 2, 125), {0, 1}},
      {transformed(cloud(9000, 4, 126), 1e-3, 4096), {1, 0}},
      {transformed(cloud(300, 3, 127), dtype == DType::float32 ? 1e-44 : 1e-322, 0), {}},
      {wide_range(9000, 3, 1e30, 128), {}},
      {cloud(130, 700, 129), {}},
      {zeros, {}},
  };
  for (const auto& [samples, layout] : sets) {
    const Twins twins(context, rounded(samples, dtype), layout);
    const std::vector<FeatureStatistics> expected = twins.host.statistics();
    const std::vector<FeatureStatistics> got = twins.device.statistics();
    for (std::size_t j = 0; j < expected.size(); ++j) {
      expect(words_of(expected[j]) == words_of(got[j]),
             "n={} d={}, feature {}: minimum {}, maximum {}, mean {}, variance {}, quantum 2^{}; "
             "in host memory {}, {}, {}, {}, 2^{}",
             samples.n, samples.d, j, got[j].minimum, got[j].maximum, got[j].mean, got[j].variance,
             got[j].quantum_exponent, expected[j].minimum, expected[j].maximum, expected[j].mean,
             expected[j].variance, expected[j].quantum_exponent);
    }
    const std::vector<std::int64_t> rows = {samples.n - 1, 0, samples.n / 2, 0};
    expect_same("copied rows", samples.d, twins.host.samples_of(rows),
                twins.device.samples_of(rows));
    expect(twins.device.compute_fingerprint() == twins.device.fingerprint(),
           "n={} d={}: a second pass gives another hash", samples.n, samples.d);
  }
}

// The message about a value that is not finite is that for host memory.
void not_finite(const Context& context) {
  for (const double value : {std::nan(""), kInfinity}) {
    Samples samples = rounded(cloud(9001, 3, 131), context.dtype());
    samples.values[3 * 8192 + 2] = -value;
    samples.values[3 * 8191 + 1] = value;
    std::string texts[2];
    const DType dtype = context.dtype();
    DeviceMemory& memory = memory_of(context);
    const Dataset clean = make_dataset(rounded(cloud(9001, 3, 131), dtype), dtype);
    std::vector<float> narrow(samples.values.begin(), samples.values.end());
    Matrix matrix = clean.matrix();
    matrix.data = dtype == DType::float32 ? static_cast<const void*>(narrow.data())
                                          : static_cast<const void*>(samples.values.data());
    const std::function<void()> attempts[] = {
        [&] { Dataset("conformance", matrix); },
        [&] {
          Dataset("conformance", copy_to_device(memory, matrix, 0), unowned(context.loaded()));
        }};
    for (int i = 0; i < 2; ++i) {
      try {
        attempts[i]();
      } catch (const InputError& error) {
        texts[i] = error.what();
      }
    }
    expect(!texts[1].empty(), "{} in device memory is not noticed", value);
    expect(texts[0] == texts[1], "the message is '{}', for host memory '{}'", texts[1], texts[0]);
  }
}

void fit_device_rows(const Context& context) {
  struct Shape {
    std::int64_t n, d, k;
    Layout layout;
  };
  const Shape shapes[] = {{1, 1, 1, {}},        {1201, 1, 5, {2, 1}},  {1203, 2, 9, {}},
                          {5003, 3, 9, {1, 1}}, {2111, 8, 9, {}},      {2111, 8, 9, {8, 4}},
                          {2111, 8, 9, {1, 0}}, {2111, 16, 9, {0, 1}}, {777, 33, 20, {3, 0}},
                          {300, 130, 40, {}}};
  for (const Shape& shape : shapes) {
    const Samples samples = rounded(cloud(shape.n, shape.d, 141), context.dtype());
    const Twins twins(context, samples, shape.layout);
    const Setting setting = setting_of(samples, shape.k);
    const OwnedSession host = context.open(twins.host, shape.k);
    const OwnedSession device = context.open(twins.device, shape.k);
    Run profiled;
    profiled.profile = true;
    Run unobserved;
    unobserved.observe = 0;
    for (const Run& run : {Run{}, profiled, unobserved, unobserved}) {
      const std::string where = describe("device rows", samples, setting);
      const Trial expected = run_fit(*host, samples, setting, run);
      const Trial got = run_fit(*device, samples, setting, run);
      expect(got.status.ok(), "{}: fit() failed: {}", where, status_message(got.status));
      if (context.repeatable()) expect_same_fit(where, samples.d, expected, got);
    }
  }
}

void label_device_rows(const Context& context) {
  for (const Layout layout : {Layout{}, Layout{3, 1}}) {
    const Samples samples = rounded(cloud(3001, 5, 151), context.dtype());
    const Twins twins(context, samples, layout);
    const std::vector<double> centroids = first_rows(samples, 11);
    const OwnedSession host = context.open(twins.host, 11);
    const OwnedSession device = context.open(twins.device, 11);
    const Labelling expected = run_label(*host, samples, centroids);
    const Labelling got = run_label(*device, samples, centroids);
    expect_ok("label()", got.status);
    if (!context.repeatable()) continue;
    expect_same_labels("device rows", expected.labels, got.labels);
    expect_same_counts("device rows", expected.counts, got.counts);
    expect_same("device rows, squared distances", 1, expected.squared_distances,
                got.squared_distances);
    expect_same("device rows", "the inertia", expected.result.inertia, got.result.inertia);
  }
}

// Integer sums of one word and of two, and compensated ones.
std::vector<Samples> samples_of_all_forms(DType dtype) {
  return {rounded(cloud(1501, 3, 161), dtype), lattice(600, 5, 9, 162),
          rounded(wide_range(900, 2, dtype == DType::float32 ? 1e12 : 1e8, 163), dtype),
          rounded(wide_range(1100, 3, dtype == DType::float32 ? 1e36 : 1e60, 164), dtype)};
}

// Compensated sums are defined by the order of the rows.
void expect_defined_sums(const Dataset& dataset, const std::vector<std::int32_t>& labels,
                         const Accumulated& got) {
  const DatasetView view = dataset.view();
  const SumPlan plan = SumPlan::make(view);
  if (plan.is_integer()) return;
  ClusterSums sums(plan, std::ssize(got.counts));
  if (view.dtype == DType::float32) {
    sums.add(static_cast<const float*>(view.data), view.stride, view.samples, labels.data());
  } else {
    sums.add(static_cast<const double*>(view.data), view.stride, view.samples, labels.data());
  }
  Accumulated expected = got;
  sums.store(expected.sums.data(), expected.counts.data());
  expect_same_partials("compensated sums", view.features, expected, got);
}

void partial_device_rows(const Context& context) {
  for (const Samples& samples : samples_of_all_forms(context.dtype())) {
    const Twins twins(context, samples, {1, 1});
    const std::vector<double> centroids = first_rows(samples, 7);
    const OwnedSession host = context.open(twins.host, 7);
    const OwnedSession device = context.open(twins.device, 7);
    std::vector<std::int32_t> labels(samples.n, -1);
    const Accumulated expected =
        run_partials(*host, samples, centroids, {0, samples.n}, 20, labels);
    expect_defined_sums(twins.host, labels, expected);
    for (const std::vector<std::int64_t>& cuts :
         {std::vector<std::int64_t>{0, samples.n}, {0, 1, 65, 333, samples.n}}) {
      std::vector<std::int32_t> own(samples.n, -1);
      const Accumulated got = run_partials(*device, samples, centroids, cuts, 20, own);
      if (!context.order_free()) continue;
      expect_same_labels("partial() of device rows", labels, own);
      expect_same_partials("partial() of device rows", samples.d, expected, got);
    }
  }
}

void pass_device_rows(const Context& context) {
  for (const NamedSamples& data : pass_data_sets(context)) {
    const Twins twins(context, data.samples);
    const OwnedSession device = context.open(twins.device, kPassClusters);
    const OwnedSession host = context.open(twins.host, kPassClusters);
    check_pass_sequence(context, data, kernels_of(*device), *host);
  }
}

// Empty clusters take rows, which the session reads from the device; in every form of sums.
void relocate_device_rows(const Context& context) {
  for (const Samples& samples : samples_of_all_forms(context.dtype())) {
    const Twins twins(context, samples, {2, 1});
    const double far = 4 * *std::max_element(samples.values.begin(), samples.values.end());
    const Setting setting = with_empty_clusters(setting_of(samples, 12), 5, samples.d, far);
    const OwnedSession host = context.open(twins.host, make_spec(setting));
    const OwnedSession device = context.open(twins.device, make_spec(setting));
    Run unobserved;
    unobserved.observe = 0;
    for (const Run& run : {Run{}, unobserved}) {
      const std::string where = describe("relocation of device rows", samples, setting);
      const Trial expected = run_fit(*host, samples, setting, run);
      const Trial got = run_fit(*device, samples, setting, run);
      expect(got.status.ok(), "{}: fit() failed: {}", where, status_message(got.status));
      expect(expected.result.relocations > 0, "{}: the case relocates nothing", where);
      if (context.repeatable()) expect_same_fit(where, samples.d, expected, got);
    }
  }
}

void seeding(const Context& context) {
  const Samples samples = rounded(blobs(3000, 5, 20, 1.0, 171), context.dtype());
  const Twins twins(context, samples, {3, 1});
  const auto backend = unowned(context.loaded());
  const std::string reason = context.beyond(twins.device, 20);
  if (!reason.empty()) throw CaseSkipped{reason};
  BackendSession session(backend, twins.device, context.parameters());
  const bool has_kernels = session.session().query(kSeedingKernels) != nullptr;
  for (const SeedingMethod method :
       {SeedingMethod::kmeans_plus_plus, SeedingMethod::kmeans_parallel, SeedingMethod::random,
        SeedingMethod::first}) {
    if (computes_distances(method) && !has_kernels) continue;
    Seeding options;
    options.method = method;
    SeedingResources resources;
    const std::vector<double> expected = seed_centroids(twins.host, 20, options, 1, resources);
    resources.session = &session;
    const std::vector<double> got = seed_centroids(twins.device, 20, options, 1, resources);
    expect_same(std::string(to_string(method)) + " of device rows", samples.d, expected, got);
  }
}

// Results are copied within the device; before a fit there are none.
void results(const Context& context) {
  const Samples samples = rounded(cloud(2003, 4, 181), context.dtype());
  const std::int64_t k = 6;
  const Twins twins(context, samples);
  const OwnedSession session = context.open(twins.device, k);
  auto* const copies = static_cast<DeviceResults*>(session->query(kDeviceResults));
  if (copies == nullptr) throw CaseSkipped{"the backend writes no results to device memory"};
  DeviceMemory& memory = memory_of(context);
  const std::shared_ptr<void> centroids = allocate(memory, k * samples.d * 8);
  const std::shared_ptr<void> labels = allocate(memory, samples.n * 4);
  const std::shared_ptr<void> counts = allocate(memory, k * 8);
  DeviceArrays arrays;
  arrays.centroids = static_cast<double*>(centroids.get());
  arrays.labels = static_cast<std::int32_t*>(labels.get());
  arrays.counts = static_cast<std::int64_t*>(counts.get());
  const auto refused = [&](const char* when) {
    const Status status = copies->copy_results(arrays);
    expect(status.code == StatusCode::invalid_argument,
           "copy_results() {}: expected invalid_argument, got {}", when, status_message(status));
  };
  const auto expect_copied = [&](const char* where, const std::vector<double>& expected_centroids,
                                 const std::vector<std::int32_t>& expected_labels,
                                 const std::vector<std::int64_t>& expected_counts) {
    expect_ok("copy_results()", copies->copy_results(arrays));
    expect_same(where, samples.d, expected_centroids,
                downloaded<double>(memory, centroids, k * samples.d));
    expect_same_labels(where, expected_labels, downloaded<std::int32_t>(memory, labels, samples.n));
    expect_same_counts(where, expected_counts, downloaded<std::int64_t>(memory, counts, k));
  };
  refused("before a fit");
  for (const std::int64_t iterations : {1, 2, 7}) {
    Setting setting = setting_of(samples, k);
    setting.max_iterations = iterations;
    const Trial trial = run_fit(*session, samples, setting);
    expect_ok("fit()", trial.status);
    expect_copied("results of fit()", trial.centroids, trial.labels, trial.counts);
  }
  const std::vector<double> first = first_rows(samples, k);
  const Labelling labelling = run_label(*session, samples, first);
  expect_ok("label()", labelling.status);
  expect_copied("results of label()", first, labelling.labels, labelling.counts);
  expect_ok("copy_results() of nothing", copies->copy_results({}));
  std::vector<std::int32_t> own(samples.n, -1);
  run_partials(*session, samples, first, {0, samples.n}, 0, own);
  refused("after partial()");
}

// An address in host memory that is said to be in device memory.
void host_address(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  const Samples samples = rounded(cloud(100, 3, 191), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  DatasetView view = dataset.view();
  view.memory_space = MemorySpace::device;
  view.required_capabilities =
      (view.required_capabilities & ~kCapabilityHostMemory) | kCapabilityDeviceMemory;
  Session* session = nullptr;
  const Status status = context.backend().open(view, context.parameters().list(), &session);
  if (session != nullptr) session->release();
  expect(status.code == StatusCode::invalid_argument,
         "open() of a host address: expected invalid_argument, got {}", status_message(status));
  std::vector<FeatureStatistics> statistics(static_cast<std::size_t>(samples.d));
  RowsDescription description;
  description.statistics = statistics.data();
  const Status described = memory.describe(view, description);
  expect(described.code == StatusCode::invalid_argument,
         "describe() of a host address: expected invalid_argument, got {}",
         status_message(described));
}

}  // namespace

void add_device_data_cases(std::vector<Case>& cases) {
  cases.push_back({"device-data/statistics", Scope::defaults, statistics});
  cases.push_back({"device-data/not-finite", Scope::defaults, not_finite});
  cases.push_back({"device-data/fit", Scope::variants, fit_device_rows});
  cases.push_back({"device-data/label", Scope::defaults, label_device_rows});
  cases.push_back({"device-data/partial", Scope::variants, partial_device_rows});
  cases.push_back({"device-data/pass", Scope::defaults, pass_device_rows});
  cases.push_back({"device-data/relocation", Scope::variants, relocate_device_rows});
  cases.push_back({"device-data/seeding", Scope::defaults, seeding});
  cases.push_back({"device-data/results", Scope::defaults, results});
  cases.push_back({"device-data/host-address", Scope::defaults, host_address});
}

}  // namespace lloyd::conformance

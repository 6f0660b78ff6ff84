// DevicePasses, if a session provides them: passes whose centroids and results are in device memory
// are bit-identical to passes of PassKernels and may alternate with them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <lloyd/plugin/abi/device_passes.hpp>

#include "conformance/interface/device_trial.hpp"
#include "conformance/interface/pass_trial.hpp"

namespace lloyd::conformance {
namespace {

constexpr std::int64_t kChunkBits = 32;

DevicePasses& device_passes_of(Session& session) {
  auto* const offered = static_cast<DevicePasses*>(session.query(kDevicePasses));
  if (offered == nullptr) throw CaseSkipped{"the backend runs no passes in device memory"};
  return *offered;
}

// An array in device memory between fences, aligned to one value only.
template <class T>
class DeviceArray {
 public:
  DeviceArray(DeviceMemory& memory, std::int64_t size)
      : memory_(memory), size_(size), storage_(allocate(memory, bytes())) {
    store(std::vector<T>(static_cast<std::size_t>(size), kGarbage));
  }

  T* data() const { return static_cast<T*>(storage_.get()) + kFence; }
  void store(const std::vector<T>& values) {
    expect(std::ssize(values) == size_, "{} values for an array of {}", values.size(), size_);
    std::vector<T> fenced(static_cast<std::size_t>(size_ + 2 * kFence), kGarbage);
    std::copy(values.begin(), values.end(), fenced.begin() + kFence);
    expect_ok("upload()", memory_.upload(kDevice, nullptr, fenced.data(), bytes(), storage_.get()));
  }
  // Checks the fences and returns the content.
  std::vector<T> load(const char* what) const {
    const std::vector<T> fenced = downloaded<T>(memory_, storage_, size_ + 2 * kFence);
    const auto end = fenced.end() - kFence;
    const auto is_garbage = [](T value) { return value == kGarbage; };
    expect(std::all_of(fenced.begin(), fenced.begin() + kFence, is_garbage),
           "{}: a value before the first one was written", what);
    expect(std::all_of(end, fenced.end(), is_garbage), "{}: a value after the last one was written",
           what);
    return {fenced.begin() + kFence, end};
  }

 private:
  static constexpr std::int64_t kFence = 5;  // odd, so that 16-byte alignment is lost
  static constexpr T kGarbage = static_cast<T>(-1515870811);

  std::int64_t bytes() const { return (size_ + 2 * kFence) * static_cast<std::int64_t>(sizeof(T)); }

  DeviceMemory& memory_;
  std::int64_t size_;
  std::shared_ptr<void> storage_;
};

// The arrays of a pass. Changed labels and inertia are added to values that are not 0.
class DeviceTotals {
 public:
  DeviceTotals(DeviceMemory& memory, const Totals& totals, std::int64_t d)
      : limbs_(totals.limbs),
        d_(d),
        centroids_(memory, std::ssize(totals.counts) * d),
        sums_(memory, std::ssize(totals.sums)),
        counts_(memory, std::ssize(totals.counts)),
        changed_(memory, 1),
        inertia_(memory, ExactSum::kChunks) {
    store(totals);
  }

  DevicePassRequest request() const {
    DevicePassRequest all;
    all.centroids = centroids_.data();
    all.sums = sums_.data();
    all.counts = counts_.data();
    all.changed = changed_.data();
    all.inertia = inertia_.data();
    return all;
  }
  void store(const Totals& totals) {
    sums_.store(totals.sums);
    counts_.store(totals.counts);
    clear_pass();
  }
  // Begins with no changed labels and no inertia.
  void clear_pass() {
    changed_.store({kFormerChanged});
    inertia_.store(std::vector<std::int64_t>(ExactSum::kChunks, kFormerChunk));
  }
  // Runs a pass in each session with all outputs, and returns the distances of all: -1 if a session
  // does not know them.
  std::int64_t run(const std::vector<DevicePasses*>& sessions,
                   const std::vector<double>& centroids) {
    centroids_.store(centroids);
    std::int64_t distances = 0;
    for (DevicePasses* const session : sessions) {
      DevicePassResult result;
      result.distances = -7;
      expect_ok("DevicePasses::pass()", session->pass(request(), nullptr, result));
      expect(result.distances != -7, "DevicePasses::pass() did not write `distances`");
      distances = result.distances < 0 || distances < 0 ? -1 : distances + result.distances;
    }
    expect_same("centroids after DevicePasses::pass()", d_, centroids,
                centroids_.load("the centroids of a pass"));
    passes_ = std::ssize(sessions);
    return distances;
  }
  Totals totals() const {
    Totals totals(limbs_, std::ssize(counts_.load("counts")), d_);
    totals.sums = sums_.load("sums of DevicePasses::pass()");
    totals.counts = counts_.load("counts of DevicePasses::pass()");
    return totals;
  }
  std::int64_t changed() const {
    return changed_.load("changed labels of DevicePasses::pass()")[0] - kFormerChanged;
  }
  // Checks the bounds of the chunks.
  ExactSum inertia() const {
    const std::vector<std::int64_t> chunks = inertia_.load("inertia of DevicePasses::pass()");
    ExactSum sum;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      sum.chunks[i] = chunks[i] - kFormerChunk;
      expect(sum.chunks[i] >= 0 && sum.chunks[i] < passes_ << kChunkBits,
             "{} passes added {} to chunk {} of the inertia", passes_, sum.chunks[i], i);
    }
    return sum;
  }

 private:
  static constexpr std::int64_t kFormerChanged = 1000;
  static constexpr std::int64_t kFormerChunk = std::int64_t{3} << 40;

  SumLimbs limbs_;
  std::int64_t d_;
  DeviceArray<double> centroids_;
  DeviceArray<std::int64_t> sums_, counts_, changed_, inertia_;
  std::int64_t passes_ = 1;  // of the last run()
};

// Runs a pass in device memory as check_pass_sequence() wants it.
PassResult run_device_pass(DeviceMemory& memory, DevicePasses& passes, std::int64_t d,
                           const std::vector<double>& centroids, Totals& totals,
                           ExactSum& inertia) {
  DeviceTotals device(memory, totals, d);
  PassResult result;
  result.distances = std::max<std::int64_t>(device.run({&passes}, centroids), 0);
  totals = device.totals();
  inertia.add(device.inertia());
  result.changed = device.changed();
  return result;
}

// Samples in host memory and in device memory.
void device_pass_sequence(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  for (const NamedSamples& data : pass_data_sets(context)) {
    const Twins twins(context, data.samples);
    const OwnedSession checking = context.open(twins.host, kPassClusters);
    for (const Dataset* const dataset : {&twins.host, &twins.device}) {
      const OwnedSession session = context.open(*dataset, kPassClusters);
      DevicePasses& passes = device_passes_of(*session);
      check_pass_sequence(
          context, data, kernels_of(*session), *checking,
          [&](const std::vector<double>& centroids, Totals& totals, ExactSum& inertia) {
            return run_device_pass(memory, passes, data.samples.d, centroids, totals, inertia);
          });
    }
  }
}

// Adds up the distances of alternating passes and those of the same passes by PassKernels alone.
class DistanceAccount {
 public:
  // `plain`: of another session on the same samples.
  DistanceAccount(PassKernels& plain, const NamedSamples& data)
      : plain_(plain),
        data_(data),
        totals_(data.limbs, kPassClusters, data.samples.d),
        length_(centroid_sequence(data.samples).size()) {}

  // `ends_on_host`: the last pass of a sequence reports the distances of the one before, if a
  // device has counted those.
  void add(const std::vector<double>& centroids, std::int64_t distances, bool ends_on_host) {
    if (passes_ % length_ == 0) {
      begin(plain_, kPassClusters, data_.limbs);
      expected_ = reported_ = 0;
    }
    expected_ += run_pass(plain_, centroids, totals_).distances;
    reported_ += distances;
    if (++passes_ % length_ != 0 || !ends_on_host) return;
    expect(reported_ == expected_, "{}: alternating passes report {} distances, host passes {}",
           data_.name, reported_, expected_);
  }

 private:
  PassKernels& plain_;
  const NamedSamples& data_;
  Totals totals_;
  std::size_t length_;
  std::size_t passes_ = 0;
  std::int64_t expected_ = 0, reported_ = 0;
};

// Passes of both kinds follow each other.
void device_pass_alternating(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  for (const NamedSamples& data : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(data.samples, context.dtype());
    const OwnedSession checking = context.open(dataset, kPassClusters);
    for (const bool begins_on_device : {false, true}) {
      const OwnedSession session = context.open(dataset, kPassClusters);
      const OwnedSession plain = context.open(dataset, kPassClusters);
      PassKernels& kernels = kernels_of(*session);
      DevicePasses& passes = device_passes_of(*session);
      DistanceAccount account(kernels_of(*plain), data);
      bool on_device = begins_on_device;
      check_pass_sequence(
          context, data, kernels, *checking,
          [&](const std::vector<double>& centroids, Totals& totals, ExactSum& inertia) {
            const bool is_on_device = std::exchange(on_device, !on_device);
            PassResult result = is_on_device ? run_device_pass(memory, passes, data.samples.d,
                                                               centroids, totals, inertia)
                                             : run_pass(kernels, centroids, totals, &inertia);
            account.add(centroids, result.distances, begins_on_device);
            // May include those of the pass before, which the account has checked.
            if (!is_on_device) result.distances /= 2;
            return result;
          });
    }
  }
}

// Sessions on parts of the rows add to the same arrays: the results are those of the whole.
void device_pass_splits(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  for (const auto& [name, samples, limbs] : pass_data_sets(context)) {
    const Dataset dataset = make_dataset(samples, context.dtype());
    const OwnedSession whole = context.open(dataset, kPassClusters);
    PassKernels& kernels = kernels_of(*whole);
    device_passes_of(*whole);
    const std::int64_t n = samples.n;
    const std::vector<std::int64_t> cuts = {0, 1, n / 3, n / 3 + 64, n};
    const std::vector<OwnedSession> parts = begin_parts(context, dataset, cuts, limbs);
    std::vector<DevicePasses*> passes;
    for (const OwnedSession& part : parts) passes.push_back(&device_passes_of(*part));
    begin(kernels, kPassClusters, limbs);
    Totals expected(limbs, kPassClusters, samples.d);
    DeviceTotals got(memory, expected, samples.d);
    for (const std::vector<double>& centroids : centroid_sequence(samples)) {
      ExactSum inertia;
      const PassResult result = run_pass(kernels, centroids, expected, &inertia);
      got.clear_pass();
      got.run(passes, centroids);
      std::vector<std::int32_t> labels;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const auto some = labels_of(kernels_of(*parts[part]), cuts[part + 1] - cuts[part]);
        labels.insert(labels.end(), some.begin(), some.end());
      }
      const std::int64_t changed = got.changed();
      const ExactSum split_inertia = got.inertia();
      const Totals totals = got.totals();
      if (!context.order_free()) continue;
      expect_same_labels(name, labels_of(kernels, n), labels);
      expect_same_totals(name, expected, totals);
      expect_same(name, "the inertia", inertia.value(), split_inertia.value());
      expect(changed == result.changed, "{}: {} labels changed in the parts, {} in the whole", name,
             changed, result.changed);
    }
  }
}

// Outputs that are not requested are not needed by later passes.
void device_pass_null_outputs(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  const Samples samples = rounded(cloud(500, 3, 95), context.dtype());
  const SumLimbs limbs{4, 32};
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kPassClusters);
  PassKernels& kernels = kernels_of(*session);
  DevicePasses& passes = device_passes_of(*session);
  const std::vector<std::vector<double>> centroids = centroid_sequence(samples);
  begin(kernels, kPassClusters, limbs);
  const Totals zeros(limbs, kPassClusters, samples.d);
  Totals ignored = zeros;
  run_pass(kernels, centroids[0], ignored);
  Totals expected = zeros;
  ExactSum inertia;
  const PassResult result = run_pass(kernels, centroids[2], expected, &inertia);
  const std::vector<std::int32_t> labels = labels_of(kernels, samples.n);

  enum Output { sums, counts, changed, chunks };
  for (const Output wanted : {sums, counts, changed, chunks}) {
    begin(kernels, kPassClusters, limbs);
    DeviceTotals device(memory, zeros, samples.d);
    const DevicePassRequest all = device.request();
    DeviceArray<double> given(memory, std::ssize(centroids[0]));
    DevicePassRequest request;
    request.centroids = given.data();
    DevicePassResult unused;
    given.store(centroids[0]);
    expect_ok("DevicePasses::pass() without outputs", passes.pass(request, nullptr, unused));
    given.store(centroids[2]);
    if (wanted == sums) request.sums = all.sums;
    if (wanted == counts) request.counts = all.counts;
    if (wanted == changed) request.changed = all.changed;
    if (wanted == chunks) request.inertia = all.inertia;
    expect_ok("DevicePasses::pass() with one output", passes.pass(request, nullptr, unused));
    if (!context.repeatable()) continue;
    Totals got = device.totals();
    if (wanted != sums) {
      expect(got.sums == zeros.sums, "a pass wrote sums that were not requested");
      got.sums = expected.sums;
    }
    if (wanted != counts) {
      expect(got.counts == zeros.counts, "a pass wrote counts that were not requested");
      got.counts = expected.counts;
    }
    expect_same_totals("a pass after one without outputs", expected, got);
    expect(got.sums == expected.sums, "the limbs of a pass differ from those of PassKernels");
    const std::int64_t expected_changed = wanted == changed ? result.changed : 0;
    expect(device.changed() == expected_changed, "a pass added {} changed labels, expected {}",
           device.changed(), expected_changed);
    if (wanted == chunks) {
      expect_same("a pass after one without outputs", "the inertia", inertia.value(),
                  device.inertia().value());
    }
    expect_same_labels("passes without outputs", labels, labels_of(kernels, samples.n));
  }
}

// Calls out of order are refused. The passes are ended by end(), a fit and a cancelled pass, also
// while a pass is running, and new ones give the same results.
void device_pass_order(const Context& context) {
  DeviceMemory& memory = memory_of(context);
  const Samples samples = rounded(cloud(800, 3, 94), context.dtype());
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, kPassClusters);
  PassKernels& kernels = kernels_of(*session);
  DevicePasses& passes = device_passes_of(*session);
  const SumLimbs limbs{4, 32};
  const std::vector<double> centroids = first_rows(samples, kPassClusters);
  const Totals zeros(limbs, kPassClusters, samples.d);
  DeviceTotals device(memory, zeros, samples.d);
  std::vector<std::int32_t> labels(samples.n);
  DevicePassResult result;
  // Does not wait for the outputs.
  const auto start_pass = [&](DevicePasses& of) {
    expect_ok("DevicePasses::pass()", of.pass(device.request(), nullptr, result));
  };
  const auto unbegun = [&](const char* when) {
    expect_refused(when, passes.pass(device.request(), nullptr, result));
    expect_refused(when, kernels.labels(labels.data()));
  };
  unbegun("before begin()");
  begin(kernels, kPassClusters, limbs);
  expect_refused("without centroids", passes.pass({}, nullptr, result));
  unbegun("after a pass that failed");
  begin(kernels, kPassClusters, limbs);
  device.run({&passes}, centroids);
  const std::vector<std::int32_t> expected = labels_of(kernels, samples.n);
  const Totals totals = device.totals();
  start_pass(passes);
  kernels.end();
  unbegun("after end()");

  begin(kernels, kPassClusters, limbs);
  start_pass(passes);
  fit_between_passes(*session, samples, centroids);
  unbegun("after fit()");

  begin(kernels, kPassClusters, limbs);
  start_pass(passes);
  StopAtOnce stop;
  const Status cancelled = passes.pass(device.request(), &stop, result);
  expect(cancelled.code == StatusCode::cancelled, "a cancelled pass: expected cancelled, got {}",
         status_message(cancelled));
  {
    const OwnedSession released = context.open(dataset, kPassClusters);
    begin(kernels_of(*released), kPassClusters, limbs);
    start_pass(device_passes_of(*released));
  }
  begin(kernels, kPassClusters, limbs);
  device.store(zeros);
  device.run({&passes}, centroids);
  expect(device.changed() == samples.n, "the first pass changed {} labels of {}", device.changed(),
         samples.n);
  if (!context.repeatable()) return;
  expect_same_labels("after a cancelled pass", expected, labels_of(kernels, samples.n));
  expect_same_totals("after a cancelled pass", totals, device.totals());
}

}  // namespace

void add_device_pass_cases(std::vector<Case>& cases) {
  cases.push_back({"device-pass/sequence", Scope::variants, device_pass_sequence});
  cases.push_back({"device-pass/alternating", Scope::defaults, device_pass_alternating});
  cases.push_back({"device-pass/splits", Scope::variants, device_pass_splits});
  cases.push_back({"device-pass/null-outputs", Scope::defaults, device_pass_null_outputs});
  cases.push_back({"device-pass/order", Scope::defaults, device_pass_order});
}

}  // namespace lloyd::conformance

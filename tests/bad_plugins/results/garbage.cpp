// Fits correctly, but reports an impossible value or changes a read-only input: LLOYD_GARBAGE names
// it.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <lloyd/plugin/sdk/distance.hpp>

#include "bad_plugins/support/bad_plugin.hpp"

namespace {

using namespace lloyd;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::string wanted() {
  const char* const text = std::getenv("LLOYD_GARBAGE");
  return text == nullptr ? "" : text;
}

void spoil(const std::string& what, const FitSpec& spec, FitResult& result) {
  if (what == "sum_form") result.sum_form = static_cast<SumForm>(7);
  if (what == "negative-sum_form") result.sum_form = static_cast<SumForm>(-1);
  if (what == "distances") result.distances = -5;
  if (what == "huge-distances") result.distances = kHuge;
  if (what == "relocations") result.relocations = -1;
  if (what == "huge-relocations") result.relocations = kHuge;
  if (what == "fallbacks") result.exact_fallbacks = kHuge;
  if (what == "nan-phase") result.phases.update_ms = kNaN;
  if (what == "infinite-phase") result.phases.transfer_ms = INFINITY;
  if (what == "long-phase") result.phases.assignment_ms = 1e9;
  if (what == "nan-loop") result.loop_ms = kNaN;
  if (what == "negative-loop") result.loop_ms = -1;
  if (what == "infinite-closing") result.closing_ms = INFINITY;
  if (what == "nan-inertia") result.inertia = kNaN;
  if (what == "negative-inertia") result.inertia = -1;
  if (what == "half-inertia") result.inertia /= 2;
  if (what == "iterations") result.iterations = spec.max_iterations + 1;
  if (what == "stop_reason") result.stop_reason = static_cast<StopReason>(9);
  if (what == "false-limit") {
    result.stop_reason = StopReason::max_iterations;
    result.iterations = 2;
  }
  if (what == "false-tolerance") result.stop_reason = StopReason::tolerance;
  if (what == "unobserved-iterations") ++result.iterations;
  if (what == "valid") result.valid = kValidCentroids;
}

DatasetView opened;  // the data set opened last; float32

template <class T>
T& writable(const T& value) {
  return const_cast<T&>(value);
}

void change_sample() {
  writable(*static_cast<const float*>(opened.data)) += 1000;
}

// Changes inputs before the fit, so that the result agrees with the changed input.
void change_inputs(const std::string& what, const double* centroids) {
  if (what == "changes-samples") change_sample();
  if (what == "unprotects-samples") {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto offset = reinterpret_cast<std::uintptr_t>(opened.data) % page;
    char* const begin = static_cast<char*>(const_cast<void*>(opened.data)) - offset;
    if (::mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) {
      change_sample();
    }
  }
  if (what == "changes-centroids") writable(*centroids) += 1;
  if (what == "changes-statistics") writable(*opened.statistics).maximum += 1;
}

void spoil_partial(const std::string& what, PartialResult& result) {
  if (what == "partial-changed") result.changed = 0;
  if (what == "partial-huge-changed") result.changed = kHuge;
  if (what == "partial-label" && result.labels != nullptr) result.labels[0] = 77;
  if (what == "partial-no-labels") result.labels = nullptr;
  if (what == "partial-count" && result.counts != nullptr) ++result.counts[0];
  if (what == "partial-moved-count" && result.counts != nullptr) {
    --result.counts[0];
    ++result.counts[1];
  }
  if (what == "partial-negative-count" && result.counts != nullptr) result.counts[0] = -5;
  if (what == "partial-huge-sum" && result.sums != nullptr) result.sums[0].high = 1ull << 40;
  if (what == "partial-sum" && result.sums != nullptr) ++result.sums[0].low;
  if (what == "partial-form") result.sum_form = static_cast<SumForm>(9);
  if (what == "partial-far") result.farthest_count = kHuge;
}

// Changes labels, centroids or inertia so that they are still consistent with one another.
void move(const std::string& what, const FitSpec& spec, const DatasetView& dataset,
          FitResult& result) {
  if (what == "rotated-labels") {
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < dataset.samples; ++i) {
      result.labels[i] = static_cast<std::int32_t>((result.labels[i] + 1) % spec.clusters);
    }
    for (std::int64_t c = spec.clusters - 1; c > 0; --c) {
      if (c == spec.clusters - 1) first = result.counts[c];
      result.counts[c] = result.counts[c - 1];
    }
    result.counts[0] = first;
  }
  if (what == "moved-centroids") result.centroids[0] += 1;
  if (what == "distant-centroids") result.centroids[0] = 1e6;
  if (what == "one-wrong-label") {
    const std::int32_t right = result.labels[0];
    result.labels[0] = static_cast<std::int32_t>((right + 1) % spec.clusters);
    --result.counts[right];
    ++result.counts[result.labels[0]];
    const auto* const row = static_cast<const float*>(dataset.data);
    const auto squared = [&](std::int32_t label) {
      return squared_distance(row, result.centroids + label * dataset.features, dataset.features);
    };
    result.inertia += squared(result.labels[0]) - squared(right);
  }
}

// Falsifies the iteration records that an observer receives.
class Garbler final : public Observer {
 public:
  explicit Garbler(Observer* observer) : observer_(observer) {}
  bool on_iteration(const IterationRecord& record) noexcept override {
    IterationRecord garbled = record;
    const std::string what = wanted();
    if (what == "record-iteration") garbled.iteration = 0;
    if (what == "record-changed") garbled.changed = -1;
    if (what == "record-unchanged" && garbled.iteration == 1) garbled.changed = 0;
    if (what == "record-hidden" && garbled.iteration > 1) garbled.changed = 0;
    if (what == "record-relocations") garbled.relocations = kHuge;
    if (what == "record-shift") garbled.shift = kNaN;
    if (what == "record-elapsed") garbled.elapsed_ms = -INFINITY;
    if (what == "no-labels") garbled.labels = nullptr;
    if (what == "no-centroids") garbled.centroids = nullptr;
    std::vector<std::int32_t> labels(1000, 77);
    if (what == "label-77" && record.labels != nullptr) garbled.labels = labels.data();
    std::vector<double> centroids(1000, kNaN);
    if (what == "nan-centroids" && record.centroids != nullptr)
      garbled.centroids = centroids.data();
    return observer_ == nullptr || observer_->on_iteration(garbled);
  }
  bool stop_requested() const noexcept override {
    return observer_ != nullptr && observer_->stop_requested();
  }

 private:
  Observer* observer_;
};

Status open(Backend& honest, const DatasetView& dataset, const ParameterList& parameters,
            Session** session) {
  opened = dataset;
  return honest.open(dataset, parameters, session);
}

Status fit(Session& honest, const FitSpec& spec, Observer* observer, FitResult& result) {
  Garbler garbler(observer);
  change_inputs(wanted(), spec.initial_centroids);
  const Status status = honest.fit(spec, &garbler, result);
  const std::string what = wanted();
  spoil(what, spec, result);
  move(what, spec, opened, result);
  static int fits = 0;
  if (what == "false-third-fit" && ++fits == 3) result.inertia = 12;
  static std::int64_t* earlier_counts = nullptr;  // of the previous fit, whose result may be kept
  if (what == "changes-earlier-counts" && earlier_counts != nullptr) ++*earlier_counts;
  earlier_counts = result.counts;
  return status;
}

Status label(Session& honest, const LabelRequest& request, Observer* observer,
             LabelResult& result) {
  change_inputs(wanted(), request.centroids);
  return honest.label(request, observer, result);
}

Status partial(Session& honest, const PartialRequest& request, Observer* observer,
               PartialResult& result) {
  if (wanted() == "changes-centroids") change_inputs(wanted(), request.centroids);
  const Status status = honest.partial(request, observer, result);
  spoil_partial(wanted(), result);
  return status;
}

Status probe(DeviceList* devices) noexcept {
  const Status status = bad::probe_honest(devices);
  const std::string what = wanted();
  if (what == "device-count") devices->count = 17;
  if (what == "device-kind") devices->devices[0].kind = static_cast<DeviceKind>(7);
  if (what == "device-memory") devices->devices[0].memory_bytes = -1;
  return status;
}

Status create(Backend** backend) noexcept {
  return guarded([&] {
    *backend = new bad::MisbehavingBackend(
        {.open = open, .fit = fit, .label = label, .partial = partial}, bad::make_honest());
  });
}

}  // namespace

LLOYD_EXPORT_BAD_PLUGIN(&probe, &create);

#include "cuda/loop.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <lloyd/plugin/float32_range.hpp>
#include <lloyd/plugin/iteration_rules.hpp>

namespace lloyd_cuda {

using lloyd::ClusterSums;
using lloyd::FitResult;
using lloyd::FitSpec;
using lloyd::IterationRecord;
using lloyd::Observer;
using lloyd::RowRange;
using lloyd::StatusCode;
using lloyd::StatusError;
using lloyd::StopReason;

namespace {

// Iterations that the host enqueues before the device has finished them: enough to keep it busy,
// few enough to be soon passed over once it has stopped.
constexpr std::int64_t kIterationsAhead = 16;
// Rows whose distances label() fetches at a time.
constexpr std::int64_t kDistanceRows = std::int64_t{1} << 20;

double milliseconds_between(std::chrono::steady_clock::time_point start,
                            std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace

template <class T>
DeviceLoop<T>::DeviceLoop(Step<T>& step, const lloyd::DatasetView& dataset, const Stream& stream)
    : step_(step),
      dataset_(dataset),
      stream_(stream),
      plan_(lloyd::SumPlan::make(dataset)),
      scale_(plan_),
      labels_(dataset.samples),
      device_progress_(progress_.device_data()) {}

template <class T>
lloyd::MemoryEstimate DeviceLoop<T>::estimate(const lloyd::ProblemShape& shape) {
  // In float64, where nothing overflows.
  const auto n = static_cast<double>(shape.samples);
  const auto k = static_cast<double>(shape.clusters);
  const double cells = k * static_cast<double>(shape.features);
  const double rounded = shape.dtype == lloyd::DType::float32 ? sizeof(float) : 0;
  const double device =
      n * sizeof(std::int32_t) + 2 * cells * (sizeof(double) + rounded + sizeof(lloyd::SumWords)) +
      2 * k * sizeof(unsigned long long) + static_cast<double>(FarthestPass::kDeviceBytes);
  // An iteration that the host finishes: centroids twice, sums as words and as totals.
  const double host =
      cells * (2 * sizeof(double) + sizeof(lloyd::SumWords) + lloyd::SumPlan::kMostBytesPerCell) +
      k * (3 * sizeof(std::int64_t) + 2 * sizeof(lloyd::FarSample));
  const auto clamped = [](double bytes) {
    return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
  };
  lloyd::MemoryEstimate memory;
  memory.host_bytes = clamped(host);
  memory.device_bytes = clamped(device);
  return memory;
}

template <class T>
void DeviceLoop<T>::fit(const FitSpec& spec, Observer* observer, FitResult& result) {
  prepare(spec.clusters, observer);
  result.sum_form = plan_.form;
  result.valid = 0;
  result.iterations = result.relocations = result.distances = 0;
  result.phases = {};
  const bool profile = spec.profile != 0;
  const bool observed = observer != nullptr && spec.observe != 0;
  Phases phases;

  const Clock::time_point start = Clock::now();
  start_from(spec.initial_centroids);
  if (profile) {
    wait();
    result.phases.transfer_ms = milliseconds_between(start, Clock::now());
  }
  if (observed || profile || !plan_.is_integer()) {
    run_observed(spec, result, start, profile ? &phases : nullptr);
  } else {
    const bool changes_wanted = spec.stop_rule == lloyd::StopRule::converge;
    do {
      run_ahead(spec, changes_wanted);
      if (state_.halt == kHaltEmpty) {
        finish_on_host(spec, changes_wanted);
        result.relocations += relocations_;
      }
    } while (state_.halt == kHaltNone);
  }
  const Clock::time_point closing = Clock::now();
  result.loop_ms = milliseconds_between(start, closing);
  result.iterations = state_.iterations;
  result.stop_reason =
      cancelled() ? StopReason::cancelled : static_cast<StopReason>(state_.stop_reason);
  if (profile) {
    result.phases.assignment_ms = phases.milliseconds(Phase::assignment);
    result.phases.update_ms = phases.milliseconds(Phase::update);
    result.phases.convergence_ms = phases.milliseconds(Phase::convergence);
  }
  if (!cancelled()) close(result);
  result.closing_ms = milliseconds_between(closing, Clock::now());

  const Clock::time_point fetching = Clock::now();
  if (result.centroids != nullptr) {
    centroids_[state_.iterations % 2].download(result.centroids, cells(), stream_);
    stream_.synchronize();
    result.valid |= lloyd::kValidCentroids;
  }
  if (profile) result.phases.transfer_ms += milliseconds_between(fetching, Clock::now());
  const std::int64_t counted = step_.distances();
  const std::int64_t passes = state_.iterations + (cancelled() ? 0 : 1);
  result.distances = counted >= 0 ? counted : passes * dataset_.samples * clusters_;
  if (cancelled()) {
    result.stop_reason = StopReason::cancelled;
    throw_cancelled();
  }
}

template <class T>
void DeviceLoop<T>::throw_cancelled() {
  throw StatusError(StatusCode::cancelled, "the observer asked to stop");
}

template <class T>
void DeviceLoop<T>::prepare(std::int64_t clusters, Observer* observer) {
  observer_ = observer;
  relocations_ = 0;
  if (clusters != clusters_) {
    clusters_ = 0;  // for the case that memory runs out half way
    const std::int64_t cells = clusters * dataset_.features;
    for (int half = 0; half < 2; ++half) {
      centroids_[half].resize(cells);
      if constexpr (sizeof(T) == sizeof(float)) rounded_[half].resize(cells);
      sums_[half].resize(cells);
      counts_[half].resize(clusters);
    }
    clusters_ = clusters;
  }
  step_.prepare(clusters);
}

// Centroids of iteration 0, nothing labelled, nothing summed.
template <class T>
void DeviceLoop<T>::start_from(const double* centroids) {
  centroids_[0].upload(centroids, cells(), stream_);
  if constexpr (sizeof(T) == sizeof(float)) {
    enqueue_rounding(centroids_[0].data(), rounded_[0].data(), cells(), stream_);
    // Means stay within the box of the data, so that its corner farthest from the origin and the
    // start speak for all centroids of a fit.
    const lloyd::Float32Range range(dataset_);
    std::vector<double> corner;
    for (std::int64_t j = 0; j < dataset_.features; ++j) {
      const lloyd::FeatureStatistics& feature = dataset_.statistics[j];
      corner.push_back(std::max(std::abs(feature.minimum), std::abs(feature.maximum)));
    }
    in_float64_ = !range.covers(centroids, clusters_) || !range.covers(corner.data(), 1);
  }
  labels_.fill_bytes(0xff, stream_);
  for (int half = 0; half < 2; ++half) {
    sums_[half].fill_bytes(0, stream_);
    counts_[half].fill_bytes(0, stream_);
  }
  state_ = {};
  put_state();
}

template <class T>
Pass DeviceLoop<T>::pass_of(std::int64_t iteration, RowRange rows) const {
  const auto half = static_cast<std::size_t>(iteration % 2);
  Pass pass;
  pass.rows = rows;
  pass.clusters = clusters_;
  pass.centroids = centroids_[half].data();
  pass.rounded = rounded_[half].data();
  pass.in_float64 = in_float64_;
  pass.scale = scale_.get();
  pass.labels = labels_.data();
  pass.halt = &device_state_.data()->halt;
  pass.stream = stream_;
  return pass;
}

template <class T>
Finish DeviceLoop<T>::finish_of(const FitSpec& spec, std::int64_t iteration) const {
  const auto half = static_cast<std::size_t>(iteration % 2);
  Finish finish;
  finish.clusters = clusters_;
  finish.features = dataset_.features;
  finish.scale = scale_.get();
  finish.totals = {sums_[half].data(), counts_[half].data()};
  finish.next_totals = {sums_[1 - half].data(), counts_[1 - half].data()};
  finish.centroids = centroids_[half].data();
  finish.next_centroids = centroids_[1 - half].data();
  finish.next_rounded = rounded_[1 - half].data();
  finish.state = device_state_.data();
  finish.progress = device_progress_;
  finish.halt_when_empty = spec.empty_clusters != lloyd::EmptyClusters::keep;
  finish.may_converge = spec.stop_rule == lloyd::StopRule::converge;
  finish.shift_wanted = spec.observe != 0 || (finish.may_converge && spec.tolerance > 0);
  finish.tolerance = spec.tolerance;
  finish.max_iterations = spec.max_iterations;
  return finish;
}

template <class T>
void DeviceLoop<T>::enqueue_iteration(const FitSpec& spec, std::int64_t iteration,
                                      bool changes_wanted, Phases* phases) {
  Pass pass = pass_of(iteration, all_rows());
  if (iteration > 0) pass.former_centroids = centroids_[(iteration + 1) % 2].data();
  if (changes_wanted) pass.changed = &device_state_.data()->changed;
  const Finish finish = finish_of(spec, iteration);
  if (plan_.is_integer()) pass.totals = finish.totals;
  pass.phases = phases;
  if (phases != nullptr) phases->begin(Phase::assignment, stream_);
  step_.assign(pass);
  if (phases != nullptr) phases->begin(Phase::update, stream_);
  if (plan_.is_integer()) {
    enqueue_means(finish, stream_);
    if (phases != nullptr) phases->begin(Phase::convergence, stream_);
    enqueue_decision(finish, stream_);
  }
  if (phases != nullptr) phases->begin(Phase::none, stream_);
}

// Until the device has stopped, for whatever reason.
template <class T>
void DeviceLoop<T>::run_ahead(const FitSpec& spec, bool changes_wanted) {
  const volatile unsigned long long* progress = progress_.data();
  std::int64_t enqueued = state_.iterations;
  for (;;) {
    const unsigned long long word = *progress;
    if ((word & ((1u << kProgressHaltBits) - 1)) != 0) break;
    const auto finished = static_cast<std::int64_t>(word >> kProgressHaltBits);
    if (observer_ != nullptr && observer_->stop_requested()) {
      raise_cancel();
      break;
    }
    if (enqueued < spec.max_iterations && enqueued - finished < kIterationsAhead) {
      enqueue_iteration(spec, enqueued++, changes_wanted, nullptr);
    } else {
      stream_.finished();  // throws where a kernel failed
      std::this_thread::yield();
    }
  }
  stream_.synchronize();
  fetch_state();
}

// One iteration at a time, for an observer, for a profile, or because the host adds up.
template <class T>
void DeviceLoop<T>::run_observed(const FitSpec& spec, FitResult& result, Clock::time_point start,
                                 Phases* phases) {
  const bool observed = observer_ != nullptr && spec.observe != 0;
  std::vector<std::int32_t> labels;
  std::vector<double> centroids;
  while (state_.halt == kHaltNone) {
    const std::int64_t iteration = state_.iterations;
    enqueue_iteration(spec, iteration, true, phases);
    wait();
    fetch_state();
    if (phases != nullptr) phases->collect();
    if (cancelled()) {
      state_.iterations = iteration;  // whether or not the device still finished it
      return;
    }
    relocations_ = 0;
    if (state_.halt == kHaltEmpty || !plan_.is_integer()) {
      const Clock::time_point updating = Clock::now();
      finish_on_host(spec, true);
      if (phases != nullptr) {
        phases->add(Phase::update, milliseconds_between(updating, Clock::now()));
      }
      if (cancelled()) return;
    }
    result.relocations += relocations_;
    if (!observed) continue;

    IterationRecord record;
    record.iteration = state_.iterations;
    record.changed = state_.last_changed;
    record.relocations = relocations_;
    record.shift = state_.shift;
    if ((spec.observe & lloyd::kObserveInertia) != 0) {
      inertia_.clear(stream_);
      measure(iteration, all_rows(), nullptr, inertia_.data());
      wait();
      fetch_state();
      if (cancelled()) {  // what was summed is part of the inertia only
        state_.iterations = iteration;
        result.relocations -= relocations_;
        return;
      }
      record.inertia = inertia_.fetch(stream_).value();
    }
    if ((spec.observe & lloyd::kObserveLabels) != 0) {
      labels.resize(static_cast<std::size_t>(dataset_.samples));
      labels_.download(labels.data(), dataset_.samples, stream_);
      record.labels = labels.data();
    }
    if ((spec.observe & lloyd::kObserveCentroids) != 0) {
      centroids.resize(static_cast<std::size_t>(cells()));
      centroids_[state_.iterations % 2].download(centroids.data(), cells(), stream_);
      record.centroids = centroids.data();
    }
    stream_.synchronize();
    record.elapsed_ms = milliseconds_between(start, Clock::now());
    if (!observer_->on_iteration(record)) {
      state_.halt = kHaltCancelled;
      return;
    }
  }
}

// The update of an iteration that the device could not finish: the same rules by the same functions
// as on the CPU.
template <class T>
void DeviceLoop<T>::finish_on_host(const FitSpec& spec, bool labels_are_there) {
  const std::int64_t iteration = state_.iterations;
  state_.halt = kHaltNone;
  relocations_ = 0;
  if (!labels_are_there) {
    put_state();
    Pass pass = pass_of(iteration, all_rows());
    pass.changed = &device_state_.data()->changed;
    step_.assign(pass);
    wait();
    fetch_state();
    if (cancelled()) {
      state_.iterations = iteration;
      return;
    }
  }
  std::vector<std::int32_t> labels;
  ClusterSums sums(plan_, clusters_);
  if (plan_.is_integer()) {
    fetch_sums(iteration, sums);
  } else {
    labels.resize(static_cast<std::size_t>(dataset_.samples));
    labels_.download(labels.data(), dataset_.samples, stream_);
    stream_.synchronize();
    sums.add(rows(), dataset_.stride, dataset_.samples, labels.data());
  }
  relocations_ = relocate(spec, sums, labels);

  std::vector<double> centroids(static_cast<std::size_t>(cells()));
  centroids_[iteration % 2].download(centroids.data(), cells(), stream_);
  stream_.synchronize();
  const std::vector<double> next = lloyd::next_centroids(sums, centroids, dataset_.features);

  IterationRecord record;
  record.iteration = iteration + 1;
  record.changed = static_cast<std::int64_t>(state_.changed);
  record.relocations = relocations_;
  record.shift = lloyd::squared_shift(centroids, next);
  const StopReason reason = lloyd::stop_reason(spec, record);

  const auto half = static_cast<std::size_t>(record.iteration % 2);
  centroids_[half].upload(next.data(), cells(), stream_);
  if constexpr (sizeof(T) == sizeof(float)) {
    enqueue_rounding(centroids_[half].data(), rounded_[half].data(), cells(), stream_);
  }
  sums_[half].fill_bytes(0, stream_);
  counts_[half].fill_bytes(0, stream_);
  state_ = {};
  state_.iterations = record.iteration;
  state_.last_changed = record.changed;
  state_.shift = record.shift;
  state_.stop_reason = static_cast<std::int32_t>(reason);
  state_.halt = reason == StopReason::none ? kHaltNone : kHaltStopped;
  put_state();
}

// Applies the policy to clusters without samples; returns how many were moved. `labels` are those
// of all samples where the sums are compensated.
template <class T>
std::int64_t DeviceLoop<T>::relocate(const FitSpec& spec, ClusterSums& sums,
                                     std::vector<std::int32_t>& labels) {
  const std::vector<std::int32_t> empty = lloyd::empty_clusters(sums);
  if (empty.empty() || spec.empty_clusters == lloyd::EmptyClusters::keep) return 0;
  if (spec.empty_clusters == lloyd::EmptyClusters::error) {
    lloyd::throw_empty_cluster(empty.front(), state_.iterations + 1);
  }
  FarthestPass farthest(clusters_);
  step_.for_each_part(all_rows(), [&](RowRange part, const Samples<T>& samples) {
    farthest.add(part, samples, centroids_[state_.iterations % 2].data(), labels_.data(), stream_);
  });
  const std::vector<lloyd::Relocation> moves =
      lloyd::choose_relocations(empty, farthest.sorted(), sums);
  if (plan_.is_integer()) {
    for (const auto& [sample, to] : moves) {
      sums.move(rows() + sample.row * dataset_.stride, sample.label, to);
    }
  } else {
    // Taking a large value out of a compensated sum would lose the small ones: sum again.
    for (const auto& [sample, to] : moves) labels[static_cast<std::size_t>(sample.row)] = to;
    sums.clear();
    sums.add(rows(), dataset_.stride, dataset_.samples, labels.data());
  }
  return static_cast<std::int64_t>(moves.size());
}

template <class T>
void DeviceLoop<T>::fetch_sums(std::int64_t iteration, ClusterSums& sums) {
  const auto half = static_cast<std::size_t>(iteration % 2);
  std::vector<lloyd::SumWords> words(static_cast<std::size_t>(cells()));
  std::vector<unsigned long long> device_counts(static_cast<std::size_t>(clusters_));
  sums_[half].download(words.data(), cells(), stream_);
  counts_[half].download(device_counts.data(), clusters_, stream_);
  stream_.synchronize();
  const std::vector<std::int64_t> counts(device_counts.begin(), device_counts.end());
  sums.load(words.data(), counts.data());
}

// Enqueues what is measured of the labels of `rows` against the centroids of an iteration.
template <class T>
void DeviceLoop<T>::measure(std::int64_t iteration, RowRange rows, unsigned long long* counts,
                            unsigned long long* inertia) {
  step_.for_each_part(rows, [&](RowRange part, const Samples<T>& samples) {
    Measurement<T> measurement;
    measurement.rows = part;
    measurement.samples = samples;
    measurement.centroids = centroids_[iteration % 2].data();
    measurement.clusters = clusters_;
    measurement.labels = labels_.data();
    measurement.counts = counts;
    measurement.inertia = inertia;
    measurement.halt = &device_state_.data()->halt;
    enqueue_measurement(measurement, stream_);
  });
}

// The closing assignment: labels, counts and inertia of the centroids that are returned.
template <class T>
void DeviceLoop<T>::close(FitResult& result) {
  const std::int64_t iteration = state_.iterations;
  state_.halt = kHaltNone;
  put_state();
  Pass pass = pass_of(iteration, all_rows());
  if (iteration > 0) pass.former_centroids = centroids_[(iteration + 1) % 2].data();
  pass.changed = &device_state_.data()->changed;
  step_.assign(pass);
  const DeviceBuffer<unsigned long long>& counts = counts_[0];
  counts.fill_bytes(0, stream_);
  inertia_.clear(stream_);
  measure(iteration, all_rows(), counts.data(), inertia_.data());
  wait();
  const std::int64_t iterations = state_.iterations;
  fetch_state();
  state_.iterations = iterations;
  if (cancelled()) return;
  result.inertia = inertia_.fetch(stream_).value();
  result.valid |= lloyd::kValidInertia;
  if (result.labels != nullptr) {
    labels_.download(result.labels, dataset_.samples, stream_);
    result.valid |= lloyd::kValidLabels;
  }
  if (result.counts != nullptr) {
    fetch_counts(counts, result.counts);
    result.valid |= lloyd::kValidCounts;
  }
  stream_.synchronize();
}

template <class T>
void DeviceLoop<T>::fetch_counts(const DeviceBuffer<unsigned long long>& from,
                                 std::int64_t* counts) {
  std::vector<unsigned long long> fetched(static_cast<std::size_t>(clusters_));
  from.download(fetched.data(), clusters_, stream_);
  stream_.synchronize();
  std::copy(fetched.begin(), fetched.end(), counts);
}

template <class T>
void DeviceLoop<T>::label(const lloyd::LabelRequest& request, Observer* observer,
                          lloyd::LabelResult& result) {
  const Clock::time_point start = Clock::now();
  prepare(request.clusters, observer);
  result.valid = 0;
  start_from(request.centroids);
  Pass pass = pass_of(0, all_rows());
  pass.changed = &device_state_.data()->changed;
  step_.assign(pass);
  inertia_.clear(stream_);
  measure(0, all_rows(), counts_[0].data(), inertia_.data());
  wait();
  fetch_state();
  if (cancelled()) throw_cancelled();
  result.inertia = inertia_.fetch(stream_).value();
  result.valid |= lloyd::kValidInertia;
  if (result.labels != nullptr) {
    labels_.download(result.labels, dataset_.samples, stream_);
    result.valid |= lloyd::kValidLabels;
  }
  if (result.counts != nullptr) {
    fetch_counts(counts_[0], result.counts);
    result.valid |= lloyd::kValidCounts;
  }
  if (result.squared_distances != nullptr) fetch_distances(result.squared_distances);
  stream_.synchronize();
  result.label_ms = milliseconds_between(start, Clock::now());
}

template <class T>
void DeviceLoop<T>::fetch_distances(double* squared_distances) {
  const DeviceBuffer<double> fetched(std::min(kDistanceRows, dataset_.samples));
  step_.for_each_part(all_rows(), [&](RowRange part, const Samples<T>& samples) {
    for (std::int64_t begin = part.begin; begin < part.end; begin += kDistanceRows) {
      Measurement<T> measurement;
      measurement.rows = {begin, std::min(begin + kDistanceRows, part.end)};
      measurement.samples = samples;
      measurement.centroids = centroids_[0].data();
      measurement.clusters = clusters_;
      measurement.labels = labels_.data();
      measurement.squared_distances = fetched.data();
      enqueue_measurement(measurement, stream_);
      fetched.download(squared_distances + begin, measurement.rows.size(), stream_);
    }
  });
  wait();
}

template <class T>
void DeviceLoop<T>::partial(const lloyd::PartialRequest& request, Observer* observer,
                            lloyd::PartialResult& result) {
  prepare(request.clusters, observer);
  start_from(request.centroids);
  const RowRange rows = request.rows;
  if (result.labels != nullptr) {
    labels_.upload(result.labels, rows.size(), stream_, rows.begin);
  }
  Pass pass = pass_of(0, rows);
  pass.changed = &device_state_.data()->changed;
  if (plan_.is_integer()) pass.totals = {sums_[0].data(), counts_[0].data()};
  step_.assign(pass);
  inertia_.clear(stream_);
  if (result.inertia != nullptr) measure(0, rows, nullptr, inertia_.data());
  wait();
  fetch_state();
  if (cancelled()) throw_cancelled();

  std::vector<std::int32_t> own_labels;
  std::int32_t* labels = result.labels;
  if (labels == nullptr && !plan_.is_integer()) {
    own_labels.resize(static_cast<std::size_t>(rows.size()));
    labels = own_labels.data();
  }
  if (labels != nullptr) labels_.download(labels, rows.size(), stream_, rows.begin);
  stream_.synchronize();

  ClusterSums sums(plan_, clusters_);
  sums.load(result.sums, result.counts);
  if (plan_.is_integer()) {
    ClusterSums added(plan_, clusters_);
    fetch_sums(0, added);
    sums.merge(added);
  } else {
    sums.add(this->rows() + rows.begin * dataset_.stride, dataset_.stride, rows.size(), labels);
  }
  sums.store(result.sums, result.counts);
  result.sum_form = plan_.form;
  result.changed = static_cast<std::int64_t>(state_.changed);
  if (result.inertia != nullptr) result.inertia->add(inertia_.fetch(stream_));
  result.farthest_count = 0;
  const std::int64_t far = result.farthest == nullptr
                               ? 0
                               : std::clamp<std::int64_t>(request.farthest_wanted, 0, rows.size());
  if (far == 0) return;
  FarthestPass farthest(far);
  step_.for_each_part(rows, [&](RowRange part, const Samples<T>& samples) {
    farthest.add(part, samples, centroids_[0].data(), labels_.data(), stream_);
  });
  const std::vector<lloyd::FarSample> found = farthest.sorted();
  std::copy(found.begin(), found.end(), result.farthest);
  result.farthest_count = static_cast<std::int64_t>(found.size());
}

// Waits for the stream; an observer that asks to stop makes its kernels return early.
template <class T>
void DeviceLoop<T>::wait() {
  bool raised = false;
  while (!stream_.finished()) {
    if (!raised && observer_ != nullptr && observer_->stop_requested()) {
      raise_cancel();
      raised = true;
    }
    std::this_thread::yield();
  }
  // Work that was done before anybody looked may still have to be given up, and a flag that was
  // raised while the state was on its way to the device may have been overwritten by it.
  if (observer_ != nullptr && observer_->stop_requested()) raise_cancel();
}

template <class T>
void DeviceLoop<T>::raise_cancel() {
  cancel_flag_[0] = kHaltCancelled;
  check(cudaMemcpyAsync(&device_state_.data()->halt, cancel_flag_.data(), sizeof(std::int32_t),
                        cudaMemcpyHostToDevice, side_stream_),
        "cancelling");
  side_stream_.synchronize();
}

template <class T>
void DeviceLoop<T>::fetch_state() {
  device_state_.download(host_state_.data(), 1, stream_);
  stream_.synchronize();
  state_ = host_state_[0];
}

template <class T>
void DeviceLoop<T>::put_state() {
  stream_.synchronize();  // an earlier copy may still read it
  host_state_[0] = state_;
  progress_[0] = static_cast<unsigned long long>(state_.iterations) << kProgressHaltBits |
                 static_cast<unsigned long long>(state_.halt);
  device_state_.upload(host_state_.data(), 1, stream_);
}

template class DeviceLoop<float>;
template class DeviceLoop<double>;

}  // namespace lloyd_cuda

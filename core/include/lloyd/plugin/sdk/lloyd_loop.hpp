// LloydLoop: fits, labellings and partial passes of samples in host memory, over a Step.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/exact_sum.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>
#include <lloyd/plugin/sdk/block_checks.hpp>
#include <lloyd/plugin/sdk/cluster_sums.hpp>
#include <lloyd/plugin/sdk/distance.hpp>
#include <lloyd/plugin/sdk/farthest_samples.hpp>
#include <lloyd/plugin/sdk/fit_driver.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>
#include <lloyd/plugin/sdk/guard.hpp>
#include <lloyd/plugin/sdk/pass_rules.hpp>
#include <lloyd/plugin/sdk/step.hpp>
#include <lloyd/plugin/sdk/step_checks.hpp>
#include <lloyd/plugin/sdk/window_reader.hpp>

namespace lloyd {

/// Runs fits, labellings and partial passes of one data set in host memory: the step assigns,
/// LloydLoop computes sums and inertia, and drive_fit() runs the iterations. If the samples are not
/// in memory (the `data` of the view is null), it runs only the passes of WindowedPasses, which the
/// step must support. Methods throw StatusError; call them within guarded(). Serves one thread at a
/// time.
template <Step S>
class LloydLoop {
 public:
  using T = typename S::value_type;  ///< of the samples: float or double

  static_assert(detail::check_step<S>());

  /// `step` and what `dataset` points to must outlive the loop.
  LloydLoop(S& step, const DatasetView& dataset)
      : step_(step),
        dataset_(dataset),
        windowed_(dataset.data == nullptr),
        plan_(SumPlan::make(dataset)) {
    if (windowed_ && !ReadsRowWindows<S>) {
      throw StatusError(StatusCode::unsupported, "the backend does not read rows in windows");
    }
  }

  /// Session::fit().
  void fit(const FitSpec& spec, Observer* observer, FitResult& result) {
    require_samples();
    end_passes();
    prepare(spec.clusters, observer);
    std::int32_t* labels = labels_or_scratch(result.labels, dataset_.samples);
    std::fill_n(labels, dataset_.samples, -1);
    result.sum_form = plan_.form;
    StepFitOptions options;
    options.profile = spec.profile != 0;
    // Observers of inertia or labels read the labels after each iteration.
    options.defer_labels = (spec.observe & (kObserveInertia | kObserveLabels)) == 0;
    const FitScope scope(step_, options);
    Passes passes(*this, spec, labels);
    drive_fit(spec, observer, passes, result);
  }

  /// Session::label().
  void label(const LabelRequest& request, Observer* observer, LabelResult& result) {
    require_samples();
    end_passes();
    prepare(request.clusters, observer);
    result.valid = 0;
    const Clock::time_point start = Clock::now();
    std::int32_t* labels = labels_or_scratch(result.labels, dataset_.samples);
    std::fill_n(labels, dataset_.samples, -1);
    assign_all(request.centroids, labels, Accumulate::counts_and_inertia, LabelsBefore::none,
               result.squared_distances);
    publish(result.labels != nullptr, result.counts, result.inertia, result.valid);
    result.label_ms = milliseconds_since(start);
  }

  /// Session::partial().
  void partial(const PartialRequest& request, Observer* observer, PartialResult& result) {
    require_samples();
    end_passes();
    prepare(request.clusters, observer);
    begin_step_pass(request.centroids, {});
    const RowRange rows = request.rows;
    std::int32_t* labels = labels_or_scratch(result.labels, rows.size());
    const std::int64_t farthest_count =
        result.farthest == nullptr
            ? 0
            : std::clamp<std::int64_t>(request.farthest_wanted, 0, rows.size());
    keep_farthest(farthest_count);
    for_each_block(rows, [&](LoopWorker& worker, RowRange block) {
      std::int32_t* block_labels = labels + (block.begin - rows.begin);
      assign_block(worker, block, block_labels);
      if (plan_.is_integer()) add_block(worker.sums, block, block_labels);
      const std::int32_t* const labels_by_row = labels - rows.begin;
      for_each_own_distance(block, labels_by_row, [&](std::int64_t i, double distance) {
        worker.inertia.add(distance);
        worker.farthest.add({i, distance, labels_by_row[i], 0});
      });
    });

    check_centroids();
    ClusterSums sums(plan_, clusters_);
    sums.load(result.sums, result.counts);
    if (plan_.is_integer()) {
      merge_into(sums);
    } else {
      add_block(sums, rows, labels);
    }
    sums.store(result.sums, result.counts);
    result.sum_form = plan_.form;
    result.changed = 0;
    FarthestSamples farthest(farthest_count);
    for_each_worker([&](const LoopWorker& worker) {
      result.changed += worker.changed;
      if (result.inertia != nullptr) result.inertia->add(worker.inertia);
      farthest.add(worker.farthest);
    });
    const std::vector<FarSample> found = farthest.sorted();
    std::copy(found.begin(), found.end(), result.farthest);
    result.farthest_count = static_cast<std::int64_t>(found.size());
  }

  /// PassKernels::begin() and WindowedPasses::begin().
  void begin_passes(const PassOptions& options) {
    end_passes();
    check_pass_options(plan_, options);
    prepare(options.clusters, nullptr);
    passes_.emplace(step_, dataset_.samples, options.limbs, /*defer_labels=*/!windowed_);
  }

  /// PassKernels::pass(), and WindowedPasses::pass() with `windows`.
  void pass(const PassRequest& request, Observer* observer, PassResult& result,
            RowWindows* windows = nullptr) {
    use_passes(observer, windows, [&](DrivenPasses& passes) {
      std::int32_t* const labels = passes.labels.data();
      const bool compare = passes.has_labels || ReportsLabelChanges<S>;
      const LabelsBefore before = passes.has_labels ? LabelsBefore::some : LabelsBefore::none;
      begin_assignment(request.centroids, compare);
      for_each_window([&](RowRange window) {
        assign_rows(window, labels, compare ? Accumulate::changes : Accumulate::sums, before);
        if (request.inertia == nullptr) return;
        write_labels(labels);
        add_inertia(window, labels);
      });
      check_centroids();
      sums_->clear();
      merge_into(*sums_);
      sums_->add_to(passes.limbs, request.sums, request.counts);
      result.changed = 0;
      for_each_worker([&](const LoopWorker& worker) {
        result.changed += worker.changed;
        if (request.inertia != nullptr) request.inertia->add(worker.inertia);
      });
      if (!passes.has_labels) detail::check_first_labels(result.changed, dataset_.samples);
      check_counts(*sums_, passes.has_labels ? 0 : dataset_.samples);
      passes.has_labels = true;
      result.distances = pass_distances();
      result.exact_fallbacks = pass_exact_fallbacks();
    });
  }

  /// PassKernels::farthest(), and WindowedPasses::farthest() with `windows`.
  std::int64_t farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                        RowWindows* windows = nullptr) {
    std::vector<FarSample> found;
    use_passes(observer, windows, [&](DrivenPasses& passes) {
      require_pass_labels(passes.has_labels);
      write_labels(passes.labels.data());
      found = find_farthest(passes.labels.data(),
                            std::clamp<std::int64_t>(wanted, 0, dataset_.samples));
    });
    std::copy(found.begin(), found.end(), samples);
    return std::ssize(found);
  }

  /// PassKernels::labels() and WindowedPasses::labels().
  void pass_labels(std::int32_t* labels) {
    use_passes(nullptr, nullptr, [&](DrivenPasses& passes) {
      require_pass_labels(passes.has_labels);
      write_labels(passes.labels.data());
      std::copy(passes.labels.begin(), passes.labels.end(), labels);
    });
  }

  /// PassKernels::end() and WindowedPasses::end().
  void end_passes() { passes_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct alignas(64) LoopWorker {
    LoopWorker(const SumPlan& plan, std::int64_t clusters, std::int64_t farthest_count)
        : sums(plan, clusters),
          counts(static_cast<std::size_t>(clusters)),
          farthest(farthest_count) {}
    bool used = true;             // received a block since clear_workers()
    std::int64_t block_rows = 0;  // rows of its blocks in this call of for_each_block()
    std::int64_t changed = 0;
    ClusterSums sums;
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> former;  // labels of a block before its assignment
    std::vector<LabelChange> changes;  // by the assignment of that block
    ExactSum inertia;
    FarthestSamples farthest;
  };

  // A worker, null before its first block, and whether a thread runs a block with it.
  struct alignas(64) WorkerSlot {
    std::atomic<bool> held{false};
    std::unique_ptr<LoopWorker> worker;
  };

  // Calls begin_fit() of the step, and end_fit() in any case.
  class FitScope {
   public:
    FitScope(S& step, const StepFitOptions& options) : step_(step) {
      try {
        detail::call_step("begin_fit()", [&] { step_.begin_fit(options); });
      } catch (...) {
        step_.end_fit();
        throw;
      }
    }
    ~FitScope() { step_.end_fit(); }
    FitScope(const FitScope&) = delete;
    FitScope& operator=(const FitScope&) = delete;

   private:
    S& step_;
  };

  // State that is kept between the passes of PassKernels or WindowedPasses.
  struct DrivenPasses {
    DrivenPasses(S& step, std::int64_t samples, const SumLimbs& form, bool defer_labels)
        : limbs(form),
          labels(static_cast<std::size_t>(samples), -1),
          scope(step, {.profile = false, .defer_labels = defer_labels}) {}
    SumLimbs limbs;
    std::vector<std::int32_t> labels;
    bool has_labels = false;  // after the first pass
    FitScope scope;
  };

  enum class Accumulate { nothing, sums, changes, counts_and_inertia };
  enum class LabelsBefore { none, some };  // before an assignment; none: all are -1

  static double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  // The caller's array for labels, or scratch_labels_, all -1, if the caller wants none.
  std::int32_t* labels_or_scratch(std::int32_t* wanted, std::int64_t rows) {
    if (wanted != nullptr) return wanted;
    scratch_labels_.assign(static_cast<std::size_t>(rows), -1);
    return scratch_labels_.data();
  }

  const T* row(std::int64_t i) const {
    return static_cast<const T*>(dataset_.data) + i * dataset_.stride;
  }

  double own_distance(std::int64_t i, std::int32_t label) const {
    return squared_distance(row(i), centroids_ + label * dataset_.features, dataset_.features);
  }

  // Calls use(i, distance) for each sample i of a block, with its squared distance to the centroid
  // of its label.
  template <class Use>
  void for_each_own_distance(RowRange block, const std::int32_t* labels, const Use& use) const {
    constexpr std::int64_t kInterleaved = 4;
    std::int64_t i = block.begin;
    for (; i + kInterleaved <= block.end; i += kInterleaved) {
      const T* samples[kInterleaved];
      const double* own[kInterleaved];
      double distances[kInterleaved];
      for (std::int64_t a = 0; a < kInterleaved; ++a) {
        samples[a] = row(i + a);
        own[a] = centroids_ + labels[i + a] * dataset_.features;
      }
      squared_distances(samples, own, dataset_.features, distances);
      for (std::int64_t a = 0; a < kInterleaved; ++a) use(i + a, distances[a]);
    }
    for (; i < block.end; ++i) use(i, own_distance(i, labels[i]));
  }

  void add_block(ClusterSums& sums, RowRange block, const std::int32_t* labels) const {
    sums.add(row(block.begin), dataset_.stride, block.size(), labels, sum_kernels());
  }

  SumKernels<T> sum_kernels() const {
    if constexpr (HasSumKernels<S>) {
      return step_.sum_kernels();
    } else {
      return {};
    }
  }

  void prepare(std::int64_t clusters, Observer* observer) {
    if (workers_.empty() || clusters != clusters_) {
      workers_.clear();  // consistent if an allocation below throws
      const int count = detail::call_step("workers()", [&] { return step_.workers(); });
      std::vector<WorkerSlot> workers(detail::checked_workers(count));
      sums_.emplace(plan_, clusters);
      workers_.swap(workers);
      clusters_ = clusters;
    }
    clear_workers();
    begin_request(observer);
  }

  void begin_request(Observer* observer) {
    observer_ = observer;
    windows_ = {};
    checks_.clear();
  }

  void require_samples() const {
    if (!windowed_) return;
    throw StatusError(StatusCode::unsupported,
                      "the session has no samples in memory; it only runs WindowedPasses");
  }

  // Calls body(passes), and ends the passes if it throws. `windows`: source of the rows; null if
  // the samples are in memory or body() reads none.
  template <class Body>
  void use_passes(Observer* observer, RowWindows* windows, const Body& body) {
    require_passes(passes_.has_value());
    begin_request(observer);
    windows_ = detail::WindowReader<T>(windows);
    try {
      body(*passes_);
    } catch (...) {
      passes_.reset();
      throw;
    }
  }

  // Writes the labels that the step has deferred.
  void write_labels([[maybe_unused]] std::int32_t* labels) {
    if constexpr (DefersLabels<S>) {
      if (!windowed_) step_.write_labels(labels);
    }
  }

  // The worker of a block. A worker is made for its first block, on its thread: with small data
  // most workers get no block, and passes touch no memory of them.
  LoopWorker& worker_of_block(std::unique_ptr<LoopWorker>& worker) {
    if (worker == nullptr) {
      worker = std::make_unique<LoopWorker>(plan_, clusters_, farthest_count_);
    }
    worker->used = true;
    return *worker;
  }

  // Calls use(worker) for all workers that have been made.
  template <class Use>
  void for_each_worker(const Use& use) {
    for (const WorkerSlot& slot : workers_) {
      if (slot.worker != nullptr) use(*slot.worker);
    }
  }

  void clear_workers() {
    for_each_worker([this](LoopWorker& worker) {
      if (!worker.used) return;
      worker.used = false;
      worker.changed = 0;
      worker.sums.clear();
      worker.counts.assign(static_cast<std::size_t>(clusters_), 0);
      worker.inertia = {};
    });
  }

  void merge_into(ClusterSums& sums) {
    for_each_worker([&](LoopWorker& worker) {
      if (worker.used) sums.merge(worker.sums);
    });
  }

  // Each worker keeps its `count` farthest samples from now on.
  void keep_farthest(std::int64_t count) {
    farthest_count_ = count;
    for_each_worker([&](LoopWorker& worker) { worker.farthest = FarthestSamples(count); });
  }

  // Calls body(worker, block) for all blocks of `rows`. Throws on the calling thread:
  // StatusCode::cancelled if the observer requests to stop, the first exception of a worker,
  // StatusCode::internal if the workers or blocks of the step are wrong. Empty blocks only poll.
  template <class Body>
  void for_each_block(RowRange rows, Body&& body) {
    for_each_worker([](LoopWorker& worker) { worker.block_rows = 0; });
    const std::int64_t workers = std::ssize(workers_);
    const auto run_block = [&](int worker, RowRange block) {
      if (checks_.stopped() || !checks_.accepts(worker, workers, block, rows)) return false;
      if (observer_ != nullptr && observer_->stop_requested()) {
        checks_.stop();
        return false;
      }
      if (block.size() == 0) return true;
      WorkerSlot& slot = workers_[static_cast<std::size_t>(worker)];
      const detail::WorkerHold hold(slot.held);
      if (!hold.succeeded()) {
        checks_.reject_shared(worker);
        return false;
      }
      const FloatEnvironment environment;
      return checks_.run([&] {
        LoopWorker& own = worker_of_block(slot.worker);
        body(own, block);
        own.block_rows += block.size();
      });
    };
    detail::call_step("for_each_block()", [&] { step_.for_each_block(rows, run_block); });
    checks_.throw_if_stopped(workers, rows);
    std::int64_t covered = 0;
    for_each_worker([&](const LoopWorker& worker) { covered += worker.block_rows; });
    detail::check_covered(covered, rows);
  }

  RowRange all_rows() const { return {0, dataset_.samples}; }

  // Calls body once with all rows if they are in memory; otherwise once per window, after pointing
  // step and loop at that window.
  template <class Body>
  void for_each_window(const Body& body) {
    if constexpr (ReadsRowWindows<S>) {
      if (windowed_) {
        windows_.for_each(dataset_, [&](RowRange window) {
          detail::call_step("use_samples()", [&] { step_.use_samples(dataset_.data, window); });
          body(window);
        });
        return;
      }
    }
    body(all_rows());
  }

  // Begins a pass of the step, which receives a copy of the centroids; see check_centroids().
  void begin_step_pass(const double* centroids, const StepPassOptions& options) {
    centroids_ = centroids;
    handed_centroids_.assign(centroids, centroids + clusters_ * dataset_.features);
    detail::call_step("begin_pass()",
                      [&] { step_.begin_pass(handed_centroids_.data(), clusters_, options); });
  }

  // Called after the assignment of a pass.
  void check_centroids() const {
    detail::check_centroids_kept(handed_centroids_.data(), centroids_, clusters_,
                                 dataset_.features);
  }

  // Checks the counts of integer sums after a pass.
  void check_counts(const ClusterSums& sums, std::int64_t expected) const {
    std::int64_t total = 0;
    for (std::int64_t c = 0; c < clusters_; ++c) total += sums.count(c);
    detail::check_total_count(total, expected,
                              ReportsLabelChanges<S>
                                  ? "it must report each changed label once, with its former label"
                                  : "it must write the labels of its block only");
  }

  // Begins a pass of all rows. `compare`: whether its assign_rows() accumulates changes.
  void begin_assignment(const double* centroids, bool compare) {
    clear_workers();
    StepPassOptions options;
    options.reports_changes = ReportsLabelChanges<S> && compare;
    begin_step_pass(centroids, options);
  }

  // Assigns all rows in memory.
  void assign_all(const double* centroids, std::int32_t* labels, Accumulate accumulate,
                  LabelsBefore before = LabelsBefore::some, double* squared_distances = nullptr) {
    begin_assignment(centroids, accumulate == Accumulate::changes);
    assign_rows(all_rows(), labels, accumulate, before, squared_distances);
    check_centroids();
  }

  // Assigns `rows`: all, or a window. Each worker accumulates what `accumulate` selects for the new
  // labels.
  void assign_rows(RowRange rows, std::int32_t* labels, Accumulate accumulate, LabelsBefore before,
                   double* squared_distances = nullptr) {
    // A step that defers labels may label rows of other blocks in passes with changes.
    const bool unlabelled =
        before == LabelsBefore::none && !(DefersLabels<S> && accumulate == Accumulate::changes);
    for_each_block(rows, [&](LoopWorker& worker, RowRange block) {
      windows_.load(block);
      if (unlabelled) check_unlabelled(block, labels);
      if (accumulate == Accumulate::changes) {
        assign_changes(worker, block, labels);
        return;
      }
      assign_block(worker, block, labels + block.begin);
      if (accumulate == Accumulate::sums) add_block(worker.sums, block, labels + block.begin);
      if (accumulate != Accumulate::counts_and_inertia) return;
      for_each_own_distance(block, labels, [&](std::int64_t i, double distance) {
        worker.inertia.add(distance);
        ++worker.counts[static_cast<std::size_t>(labels[i])];
        if (squared_distances != nullptr) squared_distances[i] = distance;
      });
    });
    checks_.throw_if_labelled_early();
  }

  // If the first or last row of a block already has a label, the assignment of another block has
  // written to it.
  void check_unlabelled(RowRange block, const std::int32_t* labels) {
    for (const std::int64_t row : {block.begin, block.end - 1}) {
      if (labels[row] != -1) checks_.note_early_label(row);
    }
  }

  // Assigns a block; labels[0] belongs to its first row.
  void assign_block(LoopWorker& worker, RowRange block, std::int32_t* labels) {
    worker.changed += step_.assign(block, labels);
    detail::check_labels(labels, block.begin, block.size(), clusters_);
  }

  // Assigns a block and moves the samples whose label changes in the sums of the worker.
  void assign_changes(LoopWorker& worker, RowRange block, std::int32_t* labels) {
    if constexpr (ReportsLabelChanges<S>) {
      LabelChangeSums<T> changes(dataset_, worker.sums, sum_kernels());
      worker.changed += step_.assign(block, labels + block.begin, changes);
      if (!changes.is_valid()) detail::throw_invalid_label(changes.invalid_label(), clusters_);
    } else {
      assign_and_compare(worker, block, labels);
    }
  }

  // Assigns a block by a step that does not report which labels change.
  void assign_and_compare(LoopWorker& worker, RowRange block, std::int32_t* labels) {
    worker.former.assign(labels + block.begin, labels + block.end);
    assign_block(worker, block, labels + block.begin);
    worker.changes.clear();
    for (std::int64_t i = 0; i < block.size(); ++i) {
      const std::int32_t from = worker.former[static_cast<std::size_t>(i)];
      const std::int32_t to = labels[block.begin + i];
      if (from != to) worker.changes.push_back({i, from, to});
    }
    worker.sums.move(row(block.begin), dataset_.stride, worker.changes.data(),
                     std::ssize(worker.changes), sum_kernels());
  }

  // The passes of a fit.
  class Passes final : public HostFitPasses {
   public:
    // `labels`: n, all -1. All arguments must outlive the passes.
    Passes(LloydLoop& loop, const FitSpec& spec, std::int32_t* labels)
        : HostFitPasses(spec, loop.dataset_.features),
          loop_(loop),
          labels_(labels),
          fused_(loop.plan_.is_integer() && spec.profile == 0) {
      loop_.sums_->clear();
    }

    void assign() override {
      accumulate_ = !fused_                                        ? Accumulate::nothing
                    : ReportsLabelChanges<S> && sums_match_labels_ ? Accumulate::changes
                                                                   : Accumulate::sums;
      loop_.assign_all(centroids().data(), labels_, accumulate_,
                       has_labels_ ? LabelsBefore::some : LabelsBefore::none);
      count_pass();
      changed_ = 0;
      loop_.for_each_worker([&](const LoopWorker& worker) { changed_ += worker.changed; });
      if (!has_labels_) detail::check_first_labels(changed_, loop_.dataset_.samples);
      has_labels_ = true;
      sums_match_labels_ = true;
    }

    double inertia() override { return loop_.sum_inertia(labels_).value(); }
    const std::int32_t* labels() override { return labels_; }

    void close(FitResult& result) override {
      loop_.assign_all(centroids().data(), labels_, Accumulate::counts_and_inertia);
      count_pass();
      if (is_fixed_point()) check_closing_counts();
      loop_.publish(result.labels != nullptr, result.counts, result.inertia, result.valid);
    }

    double transfer_ms() override {
      return detail::call_step("transfer_ms()", [&] { return loop_.step_.transfer_ms(); });
    }

    void report(FitResult& result) override {
      result.distances = distances_;
      if constexpr (CountsExactFallbacks<S>) result.exact_fallbacks = exact_fallbacks_;
    }

    std::vector<FarSample> find_farthest(std::int64_t wanted) override {
      if constexpr (DefersLabels<S>) loop_.step_.write_labels(labels_);
      return loop_.find_farthest(labels_, wanted);
    }

    void move_sample(const Relocation& relocation, ClusterSums& sums) override {
      const FarSample& sample = relocation.sample;
      sums.move(loop_.row(sample.row), sample.label, relocation.to);
      sums_match_labels_ = false;
    }

    void recompute_sums(const std::vector<Relocation>& relocations, ClusterSums& sums) override {
      with_relocated_labels(relocations, labels_, [&] {
        sums.clear();
        loop_.add_block(sums, loop_.all_rows(), labels_);
      });
    }

   protected:
    ClusterSums& sum_labels() override {
      ClusterSums& sums = *loop_.sums_;
      if (accumulate_ != Accumulate::changes) sums.clear();
      if (!loop_.plan_.is_integer()) {
        loop_.add_block(sums, loop_.all_rows(), labels_);
        return sums;
      }
      if (accumulate_ == Accumulate::nothing) loop_.sum_by_worker(labels_);
      loop_.merge_into(sums);
      loop_.check_counts(sums, loop_.dataset_.samples);
      return sums;
    }
    std::int64_t changed() const override { return changed_; }

   private:
    // Called after each pass.
    void count_pass() {
      distances_ += loop_.pass_distances();
      exact_fallbacks_ += loop_.pass_exact_fallbacks();
    }

    // If no label changed since the last sums, their counts are also those of the labels.
    void check_closing_counts() {
      std::int64_t changed = 0;
      loop_.for_each_worker([&](const LoopWorker& worker) { changed += worker.changed; });
      if (changed > 0) return;  // labels may differ if the step is not deterministic
      for (std::int64_t c = 0; c < loop_.clusters_; ++c) {
        std::int64_t count = 0;
        loop_.for_each_worker(
            [&](const LoopWorker& worker) { count += worker.counts[static_cast<std::size_t>(c)]; });
        detail::check_closing_count(c, count, loop_.sums_->count(c));
      }
    }

    LloydLoop& loop_;
    std::int32_t* labels_;
    // Integer sums are accumulated block by block while the rows are in cache. Compensated sums
    // depend on the order of the rows and take a separate pass, as does a profiled update.
    bool fused_;
    Accumulate accumulate_ = Accumulate::nothing;  // in the last assignment
    bool sums_match_labels_ = true;  // true at first: no sample has a label, all sums are 0
    bool has_labels_ = false;        // after the first assignment
    std::int64_t changed_ = 0;       // labels that the last assignment changed
    std::int64_t distances_ = 0;
    std::int64_t exact_fallbacks_ = 0;  // meaningless unless the step counts them
  };

  // Number of distances that the last pass computed.
  std::int64_t pass_distances() {
    if constexpr (KeepsBounds<S>) {
      return detail::checked_distances(
          detail::call_step("take_distances()", [&] { return step_.take_distances(); }));
    } else {
      return dataset_.samples * clusters_;
    }
  }

  // Number of labels that the definition decided in the last pass; -1 if the step does not count
  // them.
  std::int64_t pass_exact_fallbacks() {
    if constexpr (CountsExactFallbacks<S>) {
      return detail::checked_exact_fallbacks(
          detail::call_step("take_exact_fallbacks()", [&] { return step_.take_exact_fallbacks(); }),
          dataset_.samples);
    } else {
      return -1;
    }
  }

  void sum_by_worker(const std::int32_t* labels) {
    for_each_block(all_rows(), [&](LoopWorker& worker, RowRange block) {
      add_block(worker.sums, block, labels + block.begin);
    });
  }

  std::vector<FarSample> find_farthest(const std::int32_t* labels, std::int64_t wanted) {
    keep_farthest(wanted);
    for_each_window([&](RowRange window) {
      for_each_block(window, [&](LoopWorker& worker, RowRange block) {
        windows_.load(block);
        for_each_own_distance(block, labels, [&](std::int64_t i, double distance) {
          worker.farthest.add({i, distance, labels[i], 0});
        });
      });
    });
    FarthestSamples farthest(wanted);
    for_each_worker([&](const LoopWorker& worker) { farthest.add(worker.farthest); });
    return farthest.sorted();
  }

  ExactSum sum_inertia(const std::int32_t* labels) {
    for_each_worker([](LoopWorker& worker) { worker.inertia = {}; });
    add_inertia(all_rows(), labels);
    ExactSum inertia;
    for_each_worker([&](const LoopWorker& worker) { inertia.add(worker.inertia); });
    return inertia;
  }

  // Adds the inertia of rows that are in memory or loaded to that of the workers.
  void add_inertia(RowRange rows, const std::int32_t* labels) {
    for_each_block(rows, [&](LoopWorker& worker, RowRange block) {
      for_each_own_distance(block, labels,
                            [&](std::int64_t, double distance) { worker.inertia.add(distance); });
    });
  }

  void publish(bool labels_wanted, std::int64_t* counts, double& inertia, std::uint32_t& valid) {
    ExactSum sum;
    for_each_worker([&](const LoopWorker& worker) { sum.add(worker.inertia); });
    inertia = sum.value();
    valid = kValidInertia | (labels_wanted ? kValidLabels : 0u);
    if (counts == nullptr) return;
    std::fill_n(counts, clusters_, 0);
    for_each_worker([&](const LoopWorker& worker) {
      for (std::int64_t c = 0; c < clusters_; ++c) {
        counts[c] += worker.counts[static_cast<std::size_t>(c)];
      }
    });
    valid |= kValidCounts;
  }

  S& step_;
  DatasetView dataset_;  // `data` is moved from window to window
  bool windowed_;        // the samples are not in memory
  SumPlan plan_;
  std::int64_t clusters_ = 0;
  const double* centroids_ = nullptr;     ///< of the last pass, k x d
  std::vector<double> handed_centroids_;  // the copy that the step receives
  std::vector<std::int32_t> scratch_labels_;
  std::vector<WorkerSlot> workers_;
  std::int64_t farthest_count_ = 0;     // samples that each worker keeps
  std::optional<ClusterSums> sums_;     ///< of all workers
  std::optional<DrivenPasses> passes_;  // none outside of begin() and end()
  Observer* observer_ = nullptr;
  detail::WindowReader<T> windows_;  // of this pass
  detail::BlockChecks checks_;
};

}  // namespace lloyd

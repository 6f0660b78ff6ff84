// The entry points of the library: open a data set in a backend, fit, label, check the results.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/fit/checkpoint.hpp>
#include <lloyd/model.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/registry.hpp>
#include <lloyd/seeding.hpp>

namespace lloyd {

class OpenedDataset;
class Ranks;
class SessionUse;
class StreamedSession;
struct ReturnedLabels;

/// Options of a fit. The command line and experiments have the same defaults.
struct FitOptions {
  std::int64_t clusters = 8;  ///< k, 1 <= k <= n
  Seeding seeding{};          ///< how the initial centroids are chosen
  /// >= 1; the fit with the lowest inertia is kept. With the seeding methods `first` and `file` all
  /// restarts would be the same, so fit() runs one.
  std::int64_t restarts = 1;
  std::int64_t max_iterations = 300;  ///< >= 1
  /// Stop rule `tolerance`: relative to the mean variance of the features; 0 disables it.
  double tolerance = 1e-4;
  /// If true, exactly max_iterations iterations are run, without stop rules.
  bool fixed_iterations = false;
  EmptyClusters empty_clusters = EmptyClusters::relocate;  ///< policy for empty clusters
  bool profile = false;  ///< measure the phases, which may slow the fit down
  /// kObserve... bits: what the observer receives after each iteration. 0: its on_iteration() is
  /// not called; its stop_requested() always is. (KMeansOptions::on_iteration of kmeans() is called
  /// in any case: 0 then means kObserveIterations.)
  std::uint32_t observe = 0;
};

/// Limits the work of checking labels: all labels are checked if n * k * d is at most this;
/// otherwise those of a random subset of the rows within this limit. The subset is the same in
/// every check.
inline constexpr std::int64_t kMaxComparedValues = std::int64_t{1} << 24;
/// Minimum number of rows of that subset.
inline constexpr std::int64_t kMinComparedSamples = 64;

/// Result of checking a fit against the definitions. The inertia has been recomputed from all
/// samples and agrees, unless the data set is in device memory: then up to 2^14 samples are copied
/// to the host, their labels are compared, and the inertia is at least theirs.
struct ResultCheck {
  std::int64_t samples = 0;  ///< number of samples whose labels were checked
  /// Comparison of their labels. Only backends that do not declare exact labels may have wrong
  /// ones.
  LabelCheck labels;
  /// Recomputed from all samples; NaN for a data set in device memory.
  double inertia = std::numeric_limits<double>::quiet_NaN();
  double ms = 0;  ///< wall time of the check, milliseconds
};

/// Result of a finished or cancelled fit: its model, which labels other samples and is saved to a
/// file, and the labels and measurements of the fit. Arrays are in host memory.
struct Fit : Model {
  std::vector<std::int32_t> labels;  ///< n; empty when this fit was cancelled
  std::vector<std::int64_t> counts;  ///< k; empty when this fit was cancelled
  FitResult result;                  ///< inertia, iterations, times; its pointers are null
  /// Choices that the backend made for this problem size, printable; empty if it reports none.
  std::string notes;
  /// True if this fit, or a restart after it, was cancelled.
  bool cancelled = false;
  std::int64_t restart = 0;  ///< index of this restart, from 0
  /// Of `result.iterations`, those before the checkpoint from which the fit was resumed; 0 if it
  /// was not. Times, distances and exact fallbacks do not include them.
  std::int64_t resumed_iterations = 0;
  double seeding_ms = 0;  ///< wall time of seeding, all restarts, milliseconds
  /// Name of the backend whose kernels computed the distances of the seeding. Empty if Lloyd's own
  /// code did, if the method computes none, and for data that is read in blocks.
  std::string seeding_backend = {};
  double fit_ms = 0;  ///< wall time of all restarts, without seeding and opening, milliseconds
  /// The first error of writing a checkpoint, also given to CheckpointOptions::on_warning; the fit
  /// continued. Empty if there was none, and on ranks other than 0, which write none.
  std::string checkpoint_error = {};
  /// The check of the result, if one was run; see BackendSession::check().
  std::optional<ResultCheck> check = std::nullopt;
};

/// A data set that is resident in a backend. Before anything is allocated, the constructor refuses
/// data sets and parameters that the backend does not support. The samples must not change while a
/// session is open: labels and sums would belong to different values. Nor may the data set be
/// moved, assigned to or destroyed: after that, all functions that use it throw InputError. See
/// Error for what else the functions throw.
///
/// One thread at a time may use a session; open one session per thread. They may be on the same
/// data set. While fit_from(), label(), check(), fit() or a seeding with the session runs, calling
/// one of these on another thread throws InputError. So does calling one on the same thread from a
/// function that fit_from(), label(), check() or the seeding calls back, such as an observer. The
/// `start` function of fit() runs between these calls and may use the session.
///
/// On a part of a data set, see Dataset::part(), the constructor, fit_from(), label() and check()
/// are collective, as is fit() below: every rank calls them with the same centroids and options.
/// Labels and squared distances are those of this rank's rows; centroids, counts, inertia and
/// iterations those of the whole data set, with the bits of one process if the backend labels every
/// sample by itself. Each rank may have its own backend and observer. If a rank fails, all throw
/// its error with "rank N on HOST: " in its message, unless all have the same error; if an observer
/// cancels on one rank, all are cancelled.
class BackendSession {
 public:
  /// `dataset` must outlive the session. A data set that is not in memory is read in every pass, in
  /// blocks of `block_rows` rows (>= 1, see plan_memory()), two of which are held in memory; for
  /// one in memory, `block_rows` (>= 0) has no effect. With `window_rows` > 0 (see
  /// plan_memory()), fits of such a data set keep labels and bounds of all samples in the backend
  /// from one pass to the next, if the backend can (kCapabilityRowWindows) and sums are integers,
  /// and hold two windows of so many rows instead of two blocks. This is faster, but takes the
  /// backend's memory for all samples instead of that for one block. The result does not depend on
  /// `block_rows` and `window_rows`, but the time does: each block costs 0.1 ms or more in every
  /// pass, so blocks should have 1 MiB of values or more. Throws InputError, also for a null
  /// backend and for parameters of another one, or BackendError.
  BackendSession(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
                 const ParameterSet& parameters, std::int64_t block_rows = 0,
                 std::int64_t window_rows = 0);
  /// The same with parameters by name, as ParameterSet::set() reads them; the others have their
  /// defaults. `{}`: all have.
  BackendSession(const std::shared_ptr<const LoadedBackend>& backend, const Dataset& dataset,
                 const std::map<std::string, std::string>& parameters = {},
                 std::int64_t block_rows = 0, std::int64_t window_rows = 0);
  /// A temporary data set would be gone when the session uses it.
  BackendSession(std::shared_ptr<const LoadedBackend> backend, const Dataset&& dataset,
                 const ParameterSet& parameters, std::int64_t block_rows = 0,
                 std::int64_t window_rows = 0) = delete;
  BackendSession(const std::shared_ptr<const LoadedBackend>& backend, const Dataset&& dataset,
                 const std::map<std::string, std::string>& parameters = {},
                 std::int64_t block_rows = 0, std::int64_t window_rows = 0) = delete;
  ~BackendSession();
  BackendSession(const BackendSession&) = delete;
  BackendSession& operator=(const BackendSession&) = delete;

  /// Runs one fit from given initial centroids (k x d). Throws InputError for options out of range
  /// and BackendError for any error of the backend. A cancelled fit is returned. Of the options,
  /// `restarts` and `seeding` have no effect: the result says that the centroids were given, with
  /// the method of SeedingMethod::file and the seed 0.
  Fit fit_from(const std::vector<double>& initial_centroids, const FitOptions& options,
               Observer* observer = nullptr);
  /// Assigns the samples to given centroids (k x d; k may exceed n): labels (n), counts (k),
  /// inertia and, unless null, squared distances (n). Throws InputError for centroids of another
  /// shape or with values that are not finite, and BackendError for any error of the backend,
  /// including `cancelled`. `squared_distances` may be the vector of the centroids, which are then
  /// replaced. Throws InputError if it is a vector that holds the samples.
  LabelResult label(const std::vector<double>& centroids, std::int64_t clusters,
                    std::vector<std::int32_t>& labels, std::vector<std::int64_t>& counts,
                    std::vector<double>* squared_distances = nullptr, Observer* observer = nullptr);

  /// Writes centroids, labels and counts of a fit of this session to arrays in device memory, with
  /// copies within the device on the caller's stream; see DeviceArrays. Labels the samples again if
  /// the session's last fit or labelling had other centroids, as the kept one of several restarts.
  /// Throws InputError for a fit that was cancelled or has another shape, and BackendError for any
  /// error of the backend and for one without DeviceResults.
  void copy_results(const Fit& fit, const DeviceArrays& arrays);

  /// Checks labels (n), centroids (k x d) and inertia against the definitions, in one pass over the
  /// data set with usable_processors() threads. `progress` receives the number of checked samples.
  /// Values are wrong if a label is not in [0, k), if the inertia is not that of the labels and
  /// centroids, or if the backend declares exact labels and a label is not that of the nearest
  /// centroid. If values are wrong, throws BackendError if all are the unchanged result of the last
  /// fit_from() or label() of this session, else InputError, which names the argument. Also
  /// throws InputError for centroids that label() would refuse and labels of another number,
  /// and what check_samples() throws.
  ResultCheck check(const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                    double inertia, const ProgressFunction& progress = {});

  /// Throws InputError if the data set was moved from, assigned to or destroyed since the session
  /// was opened. The other functions call it. Not collective.
  void check_dataset() const;

  /// Throws the error with which the last call could not read the data set, if any, and InputError
  /// if the file of the data set has changed. Call it after an error: the file, not the backend,
  /// may be the cause.
  void check_source() const;

  /// Throws if the samples or their statistics were changed since the data set was made, after one
  /// pass over the samples: InputError if the program may have done it (those of a Matrix::view(),
  /// of a RowSource or of a file), else BackendError. The other functions call it after an internal
  /// error of the backend, since changed samples may be the cause.
  void check_samples() const;

  /// The session of the backend. This object releases it. Its functions may be called by
  /// one thread at a time, which is not checked.
  Session& session() { return *session_; }
  /// The backend of the session.
  const LoadedBackend& backend() const { return *backend_; }
  /// The parameters of the backend.
  const ParameterSet& parameters() const { return parameters_; }
  /// The communicator of the data set when the session was opened; null for one process.
  const std::shared_ptr<Communicator>& communicator() const;
  /// The data set of the session.
  const Dataset& dataset() const { return dataset_; }
  /// Wall time of opening the session in milliseconds: transfer and the backend's preparation.
  double open_ms() const { return open_ms_; }

 private:
  friend class SessionUse;
  friend ResultCheck check_returned_fit(BackendSession& session, const Fit& fit,
                                        const ProgressFunction& progress);
  /// The thread that has claimed the session, see SessionUse.
  struct User {
    std::atomic<std::thread::id> thread{};  ///< default value: the session is free
    bool in_call = false;  ///< whether `thread` is within a call; only `thread` accesses it
  };

  Fit run_fit(const std::vector<double>& initial_centroids, const FitOptions& options,
              Observer* observer);
  LabelResult run_label(const std::vector<double>& centroids, std::int64_t clusters,
                        std::vector<std::int32_t>& labels, std::vector<std::int64_t>& counts,
                        std::vector<double>* squared_distances, Observer* observer);
  ResultCheck run_check(const ReturnedLabels& returned, const ProgressFunction& progress);
  template <class Body>
  auto with_cause(const Body& body) const;
  void rethrow_source_failure() const;
  void check_statistics() const;
  void throw_if_failed(const Ranks& ranks, const Status& status) const;

  std::shared_ptr<const LoadedBackend> backend_;
  const Dataset& dataset_;
  ParameterSet parameters_;
  std::vector<FeatureStatistics> statistics_;  // a copy, to detect changes by the backend
  std::unique_ptr<const OpenedDataset> opened_;
  Session* session_ = nullptr;
  /// The session that reads the rows of this process in blocks; null if they are in memory.
  StreamedSession* streamed_ = nullptr;
  double open_ms_ = 0;
  /// Of the last fit or labelling that the backend finished (k x d); empty: none.
  std::vector<double> last_centroids_;
  /// Hash of centroids, labels and inertia of the last fit or labelling that finished.
  std::optional<std::uint64_t> last_result_;
  User user_;
};

/// Receives the progress of the stages of fit() other than iterations, on the calling thread:
/// "seeding", see SeedingResources::progress, and "checking", in samples.
using StageFunction =
    std::function<void(std::string_view stage, std::int64_t done, std::int64_t total)>;

/// Initial centroids that were chosen elsewhere.
struct GivenStart {
  std::vector<double> centroids;  ///< k x d; empty: fit() seeds this restart itself
  std::string backend = {};       ///< Fit::seeding_backend
};
/// Returns the initial centroids of a restart (0, 1, ...). Must choose the samples that
/// seed_indices() chooses, so that results do not depend on it. May throw Cancelled.
using StartFunction = std::function<GivenStart(std::int64_t restart)>;

/// Seeds and fits restarts_to_run() times, keeps the fit with the lowest inertia and checks it. If
/// the observer cancels, returns the best finished restart, else the cancelled one, which has no
/// centroids if seeding was cancelled. `start`, if not empty, may choose the initial centroids
/// instead. With a folder in `checkpoints`, the fit writes checkpoints and may be resumed;
/// iterations are then counted from the beginning of the restart. The last checkpoint remains: call
/// remove_checkpoint() once the result is safe. If the limit of iterations ended a fit of one
/// restart, the checkpoint also serves to resume it with a higher limit. Throws like the functions
/// of BackendSession, what `start` throws, and InputError for a checkpoint that is damaged, belongs
/// to another fit, or exists although `resume` is not set. If `on_stage` or a function of
/// `checkpoints` throws, the fit is cancelled, and fit() throws that exception at its end. The
/// functions of an Observer are noexcept: an exception in them ends the process.
Fit fit(BackendSession& session, const FitOptions& options, Observer* observer = nullptr,
        const StageFunction& on_stage = {}, const StartFunction& start = {},
        const CheckpointOptions& checkpoints = {});

/// Number of restarts that fit() runs: `options.restarts`, but at most 1 if all would begin with
/// the same centroids; see uses_seed().
std::int64_t restarts_to_run(const FitOptions& options);

/// Checks options against a data set: k in [1, n], counts >= 1, tolerance finite and >= 0. Throws
/// InputError otherwise.
void check_options(const FitOptions& options, const Dataset& dataset);

/// Checks a fit before the data set is opened in a session. Throws what fit_from() would throw:
/// InputError for options out of range and parameters of another backend, BackendError for limits
/// of the backend.
void check_fit(const LoadedBackend& backend, const Dataset& dataset, const ParameterSet& parameters,
               const FitOptions& options);

/// The FitSpec of these options, without initial centroids. `mean_variance` of the data set turns
/// the relative tolerance into an absolute one.
FitSpec make_spec(const FitOptions& options, double mean_variance);
/// The size of a problem, for the plugin boundary.
ProblemShape make_shape(const Dataset& dataset, std::int64_t clusters);

/// The reason why the backend cannot run such a fit: a missing capability (kCapability... bits) or
/// a limit. Empty if it can. Throws BackendError if supports() fails instead of refusing the fit.
std::string unsupported_reason(const LoadedBackend& backend, const ProblemShape& shape,
                               std::uint64_t required_capabilities, const ParameterSet& parameters,
                               const FitSpec& spec);
/// The peak memory of such a fit in bytes, excluding data set and results. Throws InputError for
/// parameters of another backend, and BackendError if the backend cannot estimate it.
MemoryEstimate estimate_memory(const LoadedBackend& backend, const ProblemShape& shape,
                               const ParameterSet& parameters, const FitSpec& spec);

}  // namespace lloyd

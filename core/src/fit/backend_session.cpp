// BackendSession: calls of a backend's session, with checks of what goes in and what comes out.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/plugin_struct.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/internal/returned_fit.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/checked_rows.hpp"
#include "dataset/fingerprint.hpp"
#include "dataset/row_range_of.hpp"
#include "dataset/squared_range.hpp"
#include "distributed/distributed_session.hpp"
#include "fit/defined_result.hpp"
#include "fit/elapsed.hpp"
#include "fit/fit_request.hpp"
#include "fit/result_check.hpp"
#include "fit/streamed_session.hpp"
#include "session/handed_values.hpp"
#include "session/opened_dataset.hpp"
#include "session/session_notes.hpp"
#include "session/session_pointer.hpp"
#include "session/session_use.hpp"

namespace lloyd {
namespace {

using Clock = std::chrono::steady_clock;

// Wraps an observer. Remembers whether the host cancelled the fit, since a backend must not do so
// itself. Checks every record, and ends the fit at an impossible one. Fills in the fields that a
// plugin of an earlier minor version lacks.
class CheckedObserver final : public Observer {
 public:
  /// All arguments must outlive it.
  CheckedObserver(Observer* observer, const ObservedFit& fit) : observer_(observer), fit_(fit) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    try {
      const IterationRecord whole = host_copy(&record);
      fault_ = record_fault(fit_, whole, ++iterations_, relocations_, milliseconds_since(start_));
      relocations_ = whole.relocations;
      const bool go_on = fault_.empty() && observer_->on_iteration(whole);
      if (!go_on) cancelled_ = true;
      return go_on;
    } catch (...) {  // out of memory for the message
      cancelled_ = true;
      return false;
    }
  }
  bool stop_requested() const noexcept override {
    const bool stop = observer_->stop_requested();
    if (stop) cancelled_ = true;
    return stop;
  }
  void* query(const char* name) noexcept override { return observer_->query(name); }
  bool cancelled() const { return cancelled_; }
  /// Number of records so far.
  std::int64_t iterations() const { return iterations_; }
  /// The fault of the last record; empty if there is none.
  const std::string& fault() const { return fault_; }

 private:
  Observer* observer_;
  const ObservedFit& fit_;
  Clock::time_point start_ = Clock::now();
  std::int64_t iterations_ = 0;
  std::int64_t relocations_ = 0;  // of the last record
  std::string fault_;
  mutable std::atomic<bool> cancelled_{false};
};

const LoadedBackend& not_null(const std::shared_ptr<const LoadedBackend>& backend) {
  if (backend != nullptr) return *backend;
  throw InputError("the backend is a null pointer; load_backend() and Registry::load() return one");
}

// Opens the backend on the rows of this process; null if a rank has none.
SessionPointer open_session(const std::shared_ptr<const LoadedBackend>& backend,
                            const Dataset& dataset, const ParameterSet& parameters,
                            std::int64_t block_rows, std::int64_t window_rows) {
  check_parameters(not_null(backend), parameters);
  check_available(*backend);
  const DatasetView view = dataset.view();
  const std::string missing = missing_capability(*backend, view.required_capabilities);
  if (!missing.empty()) {
    throw BackendError(StatusCode::unsupported, backend->name() + " " + missing);
  }
  if (block_rows < 0 && dataset.source() == nullptr) {
    throw InputError(
        fmt::format("{}: block_rows is {}; it must be at least 0, or at least 1 for "
                    "data that is not in memory",
                    dataset.name(), block_rows));
  }
  if (window_rows < 0) {
    throw InputError(
        fmt::format("{}: window_rows is {}; it must be at least 0", dataset.name(), window_rows));
  }
  if (view.samples == 0) return nullptr;
  dataset.check_mapped_file();
  if (dataset.source() != nullptr) {
    return SessionPointer(
        new StreamedSession(backend, dataset, parameters, block_rows, window_rows));
  }
  Session* session = nullptr;
  throw_unless_ok(backend->name(), backend->backend().open(view, parameters.list(), &session));
  if (session == nullptr) {
    throw BackendError(StatusCode::internal, backend->name() + ": open returned no session");
  }
  return SessionPointer(session);
}

// Throws InputError for results whose sizes are not those of a data set.
void check_sizes(const Dataset& dataset, std::span<const double> centroids,
                 std::span<const std::int32_t> labels) {
  if (centroids.empty() || std::ssize(centroids) % dataset.features() != 0) {
    throw InputError(fmt::format("{} centroid values were given; {} has {}", centroids.size(),
                                 dataset.name(), format_count(dataset.features(), "feature")));
  }
  if (std::ssize(labels) != dataset.samples()) {
    throw InputError(fmt::format("{} labels were given, but {} has {}", labels.size(),
                                 dataset.name(), format_count(dataset.samples(), "sample")));
  }
}

// Calls `body` for consecutive rows of a data set in memory, and reports the progress.
template <class Body>
void for_each_part(const Dataset& dataset, const ProgressFunction& progress, const Body& body) {
  constexpr std::int64_t kMinPart = 65536;  // samples between two reports
  const std::int64_t n = dataset.samples();
  const std::int64_t part = progress ? std::max(kMinPart, n / 100) : n;
  for (std::int64_t begin = 0; begin < n; begin += part) {
    const std::int64_t end = std::min(begin + part, n);
    body(begin, row_range_of(dataset.matrix(), begin, end));
    if (progress) progress(end, n);
  }
}

// Runs a check that throws if it finds the cause of a failure of a collective call, which ended
// with `code`. If a rank is lost only during the check, that is not the cause and does not throw.
void find_cause(const Ranks& ranks, StatusCode code, const std::function<void()>& check) {
  try {
    with_core_errors([&] { ranks.together(check); });
  } catch (const BackendError& error) {
    const bool communicator_failed = error.code() == StatusCode::unavailable;
    if (!communicator_failed || code == StatusCode::unavailable) throw;
  }
}

void check_centroids(std::span<const double> centroids, std::int64_t clusters,
                     const Dataset& dataset) {
  if (static_cast<std::int64_t>(centroids.size()) != clusters * dataset.features()) {
    throw InputError(fmt::format("{} centroid values were given, but {} of {} features take {}",
                                 centroids.size(), format_count(clusters, "cluster"),
                                 dataset.features(), clusters * dataset.features()));
  }
  const auto d = static_cast<std::size_t>(dataset.features());
  for (std::size_t c = 0; c < static_cast<std::size_t>(clusters); ++c) {
    for (std::size_t j = 0; j < d; ++j) {
      const double value = centroids[c * d + j];
      if (!std::isfinite(value)) {
        throw InputError(
            fmt::format("centroid {}, feature {} is {}; centroids must be finite", c, j, value));
      }
    }
    const double farthest = farthest_square(dataset.statistics(), centroids.data() + c * d);
    if (!(farthest < kLargestSquare)) {
      throw InputError(fmt::format(
          "centroid {} is so far from the data that squared distances reach {:.3g}, too near the "
          "end of float64 (limit {:.3g})",
          c, farthest, kLargestSquare));
    }
  }
}

// Throws InputError if writing to `values` would overwrite the samples.
void check_not_samples(const std::vector<double>& values, const Dataset& dataset) {
  if (!dataset.in_memory() || dataset.samples() == 0) return;
  const Matrix& matrix = dataset.matrix();
  const auto begin = reinterpret_cast<std::uintptr_t>(matrix.data);
  const auto bytes = static_cast<std::uintptr_t>(
      ((matrix.rows - 1) * matrix.stride + matrix.columns) * size_of(matrix.dtype));
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  if (address >= begin + bytes || address + values.capacity() * sizeof(double) <= begin) return;
  throw InputError(
      fmt::format("{}: the vector for the squared distances holds the samples, which must not "
                  "change as long as the session is open; pass another vector",
                  dataset.name()));
}

// Identifies a labelling, to tell a result of the backend from values of the caller.
std::uint64_t hash_of_result(std::span<const double> centroids,
                             std::span<const std::int32_t> labels, double inertia) {
  const auto hash_of = [](const auto& values, DType dtype_of_same_size) {
    const std::int64_t count = std::ssize(values);
    Fingerprint hash(1, count, dtype_of_same_size);
    hash.add(values.data(), count, 1);
    return hash.value();
  };
  const std::array<std::uint64_t, 3> parts = {hash_of(centroids, DType::float64),
                                              hash_of(labels, DType::float32),
                                              std::bit_cast<std::uint64_t>(inertia)};
  return hash_of(parts, DType::float64);
}

}  // namespace

BackendSession::BackendSession(const std::shared_ptr<const LoadedBackend>& backend,
                               const Dataset& dataset,
                               const std::map<std::string, std::string>& parameters,
                               std::int64_t block_rows, std::int64_t window_rows)
    : BackendSession(backend, dataset,
                     parameters_of(not_null(backend), {.name = {}, .parameters = parameters}),
                     block_rows, window_rows) {}

BackendSession::BackendSession(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
                               const ParameterSet& parameters, std::int64_t block_rows,
                               std::int64_t window_rows)
    : backend_(std::move(backend)),
      dataset_(dataset),
      parameters_(parameters),
      statistics_(dataset.statistics()),
      opened_(std::make_unique<const OpenedDataset>(dataset)) {
  const FloatEnvironment environment;
  const Clock::time_point start = Clock::now();
  with_core_errors([&] {
    SessionPointer local;
    Ranks(dataset.communicator()).together([&] {
      local = open_session(backend_, dataset, parameters_, block_rows, window_rows);
      if (dataset.source() != nullptr) streamed_ = static_cast<StreamedSession*>(local.get());
    });
    if (dataset.communicator() == nullptr) {
      session_ = local.release();
      return;
    }
    ReadBlocks read_blocks;
    if (streamed_ != nullptr) {
      read_blocks = [this](RowRange rows, const BlockBody& body) {
        streamed_->for_each_block(rows, body);
      };
    }
    session_ = new DistributedSession(dataset, local.release(), std::move(read_blocks));
  });
  open_ms_ = milliseconds_since(start);
}

BackendSession::~BackendSession() {
  session_->release();
}

// An internal error of the backend, which all ranks have alike, may be due to samples that were
// changed meanwhile.
template <class Body>
auto BackendSession::with_cause(const Body& body) const {
  try {
    return with_core_errors(body);
  } catch (const BackendError& error) {
    if (error.code() == StatusCode::internal) {
      find_cause(Ranks(opened_->communicator()), error.code(), [&] { check_samples(); });
    }
    throw;
  }
}

Fit BackendSession::fit_from(const std::vector<double>& initial_centroids,
                             const FitOptions& options, Observer* observer) {
  const SessionUse use(*this, SessionUse::Scope::call);
  return with_cause([&] { return run_fit(initial_centroids, options, observer); });
}

Fit BackendSession::run_fit(const std::vector<double>& initial_centroids, const FitOptions& options,
                            Observer* observer) {
  const FloatEnvironment environment;
  const Ranks ranks(opened_->communicator());
  ranks.together([&] {
    check_dataset();
    check_fit(*backend_, dataset_, parameters_, options);
    check_centroids(initial_centroids, options.clusters, dataset_);
    dataset_.check_mapped_file();
  });
  Fit fit;
  fit.clusters = options.clusters;
  fit.features = dataset_.features();
  fit.feature_names = dataset_.feature_names;
  fit.samples = dataset_.total_samples();
  fit.backend = backend_->name();
  fit.seeding_method = to_string(SeedingMethod::file);
  fit.centroids.resize(initial_centroids.size());
  fit.labels.resize(static_cast<std::size_t>(dataset_.samples()));
  fit.counts.resize(static_cast<std::size_t>(options.clusters));
  FitSpec spec = make_spec(options, dataset_.mean_variance());
  const HandedValues handed(initial_centroids);
  spec.initial_centroids = handed.data();
  fit.result.centroids = fit.centroids.data();
  fit.result.labels = fit.labels.data();
  fit.result.counts = fit.counts.data();

  const ObservedFit observed{
      spec, make_shape(dataset_, options.clusters), dataset_.total_samples(),
      shift_of_rounding(dataset_.statistics(), dataset_.dtype(), options.clusters)};
  CheckedObserver checked(observer, observed);
  last_centroids_.clear();
  last_result_.reset();
  const Clock::time_point start = Clock::now();
  const Status status = session_->fit(spec, observer == nullptr ? nullptr : &checked, fit.result);
  fit.fit_ms = milliseconds_since(start);
  fit.result.centroids = nullptr;
  fit.result.labels = nullptr;
  fit.result.counts = nullptr;
  fit.cancelled = status.code == StatusCode::cancelled;
  if (!ranks.alone() && !fit.cancelled) throw_if_failed(ranks, status);
  ranks.together([&] {
    if (!checked.fault().empty()) {
      throw BackendError(StatusCode::internal, backend_->name() + ": " + checked.fault());
    }
    if (fit.cancelled && !checked.cancelled() && ranks.alone()) {
      throw BackendError(StatusCode::internal,
                         backend_->name() + ": it ended the fit as cancelled without a request");
    }
    check_source();  // first: a changed file is not the backend's fault
  });
  if (!fit.cancelled) throw_unless_ok(backend_->name(), status);
  fit.notes = session_notes(*session_);  // valid until the next call of the session
  const std::vector<std::int64_t> histogram = label_histogram(ranks, fit.labels, options.clusters);
  ranks.together([&] {
    handed.check(backend_->name(), "initial centroids");
    try {
      check_result(backend_->name(), spec, initial_centroids, dataset_.statistics(), histogram,
                   fit);
    } catch (const BackendError&) {
      check_samples();  // within together(), so that all ranks report it
      throw;
    }
    if (!fit.cancelled && spec.observe != 0 && observer != nullptr &&
        checked.iterations() != fit.result.iterations) {
      throw BackendError(
          StatusCode::internal,
          fmt::format("{}: it reports {} of its {} to an observer", backend_->name(),
                      checked.iterations() == 0 ? "none" : std::to_string(checked.iterations()),
                      format_count(fit.result.iterations, "iteration")));
    }
  });
  fit.inertia = fit.result.inertia;
  if (!fit.cancelled) {
    last_centroids_ = fit.centroids;
    last_result_ = hash_of_result(fit.centroids, fit.labels, fit.inertia);
  }
  return fit;
}

LabelResult BackendSession::label(const std::vector<double>& centroids, std::int64_t clusters,
                                  std::vector<std::int32_t>& labels,
                                  std::vector<std::int64_t>& counts,
                                  std::vector<double>* squared_distances, Observer* observer) {
  const SessionUse use(*this, SessionUse::Scope::call);
  // A copy, if the squared distances will replace the centroids.
  const std::vector<double> replaced =
      squared_distances == &centroids ? centroids : std::vector<double>();
  const std::vector<double>& given = squared_distances == &centroids ? replaced : centroids;
  return with_cause(
      [&] { return run_label(given, clusters, labels, counts, squared_distances, observer); });
}

LabelResult BackendSession::run_label(const std::vector<double>& centroids, std::int64_t clusters,
                                      std::vector<std::int32_t>& labels,
                                      std::vector<std::int64_t>& counts,
                                      std::vector<double>* squared_distances, Observer* observer) {
  const FloatEnvironment environment;
  const Ranks ranks(opened_->communicator());
  ranks.together([&] {
    check_dataset();
    check_cluster_count(clusters, dataset_.features());
    check_centroids(centroids, clusters, dataset_);
    if (squared_distances != nullptr) check_not_samples(*squared_distances, dataset_);
    dataset_.check_mapped_file();
  });
  labels.resize(static_cast<std::size_t>(dataset_.samples()));
  counts.resize(static_cast<std::size_t>(clusters));
  last_centroids_.clear();
  last_result_.reset();
  LabelRequest request;
  const HandedValues handed(centroids);
  request.centroids = handed.data();
  request.clusters = clusters;
  LabelResult result;
  result.labels = labels.data();
  result.counts = counts.data();
  if (squared_distances != nullptr) {
    squared_distances->resize(labels.size());
    result.squared_distances = squared_distances->data();
  }
  const Clock::time_point start = Clock::now();
  const Status status = session_->label(request, observer, result);
  const double label_ms = milliseconds_since(start);
  if (!ranks.alone()) throw_if_failed(ranks, status);
  ranks.together([&] { check_source(); });
  throw_unless_ok(backend_->name(), status);
  const std::vector<std::int64_t> histogram = label_histogram(ranks, labels, clusters);
  ranks.together([&] {
    handed.check(backend_->name(), "centroids");
    check_labelling(backend_->name(), clusters, labels, counts, histogram, squared_distances,
                    result, label_ms);
  });
  result.labels = nullptr;
  result.counts = nullptr;
  result.squared_distances = nullptr;
  last_centroids_ = centroids;
  last_result_ = hash_of_result(centroids, labels, result.inertia);
  return result;
}

void BackendSession::copy_results(const Fit& fit, const DeviceArrays& arrays) {
  check_dataset();
  if (fit.counts.empty() || fit.samples != dataset_.samples() ||
      fit.features != dataset_.features()) {
    throw InputError(fmt::format(
        "{}: the results of a fit were requested that was cancelled or is of other samples",
        dataset_.name()));
  }
  auto* const results = static_cast<DeviceResults*>(session_->query(kDeviceResults));
  if (results == nullptr) {
    throw BackendError(StatusCode::unsupported,
                       fmt::format("{} does not write results to device memory", backend_->name()));
  }
  if (fit.centroids != last_centroids_) {
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    label(fit.centroids, fit.clusters, labels, counts);
  }
  const SessionUse use(*this, SessionUse::Scope::call);
  throw_unless_ok(backend_->name(), results->copy_results(arrays));
}

// An error of reading the data set is not blamed on the backend.
void BackendSession::rethrow_source_failure() const {
  if (streamed_ != nullptr) streamed_->rethrow_failure();
}

// Throws for the status of a collective call, which is the same on all ranks unless the
// communicator has failed. find_cause() first throws for a communicator that had failed or an
// unreadable or changed file, so that the backend is not blamed.
void BackendSession::throw_if_failed(const Ranks& ranks, const Status& status) const {
  if (status.ok()) return;
  find_cause(ranks, status.code, [&] { check_source(); });
  throw_unless_ok(backend_->name(), status);
}

const std::shared_ptr<Communicator>& BackendSession::communicator() const {
  return opened_->communicator();
}

void BackendSession::check_dataset() const {
  if (opened_->is(dataset_)) return;
  throw InputError(
      fmt::format("{}: the session on {} cannot be used: its data set was moved, assigned to or "
                  "destroyed; a data set must stay in place until the last session on it is closed",
                  backend_->name(), opened_->name()));
}

void BackendSession::check_source() const {
  check_dataset();
  rethrow_source_failure();
  dataset_.check_unchanged();
}

// A plugin can write to values that it receives as const.
void BackendSession::check_samples() const {
  const FloatEnvironment environment;
  check_dataset();
  check_statistics();
  if (dataset_.compute_fingerprint() == dataset_.fingerprint()) return;
  if (dataset_.source() != nullptr) throw InputError(changed_rows_text(dataset_.name()));
  if (dataset_.matrix().storage != nullptr) throw_changed_input(backend_->name(), "samples");
  throw InputError(fmt::format(
      "{}: the samples were changed after the data set was made, by the program that owns them "
      "or by the plugin {}; they must not change until the last session on the data set is "
      "closed",
      dataset_.name(), backend_->name()));
}

void BackendSession::check_statistics() const {
  dataset_.check_unchanged();  // first: a changed file is not the backend's fault
  const auto bytes = statistics_.size() * sizeof(FeatureStatistics);
  if (std::memcmp(statistics_.data(), dataset_.statistics().data(), bytes) == 0) return;
  throw_changed_input(backend_->name(), "statistics of the features");
}

ResultCheck BackendSession::check(const std::vector<double>& centroids,
                                  const std::vector<std::int32_t>& labels, double inertia,
                                  const ProgressFunction& progress) {
  const SessionUse use(*this, SessionUse::Scope::call);
  std::int64_t foreign = last_result_ == hash_of_result(centroids, labels, inertia) ? 0 : 1;
  with_core_errors([&] { Ranks(opened_->communicator()).sum({&foreign, 1}); });
  return run_check({.centroids = centroids,
                    .labels = labels,
                    .inertia = inertia,
                    .origin = foreign == 0 ? Origin::backend : Origin::caller},
                   progress);
}

ResultCheck BackendSession::run_check(const ReturnedLabels& returned,
                                      const ProgressFunction& progress) {
  const FloatEnvironment environment;
  const Ranks ranks(opened_->communicator());
  with_core_errors([&] {
    ranks.together([&] {
      check_dataset();
      check_sizes(dataset_, returned.centroids, returned.labels);
      check_centroids(returned.centroids, std::ssize(returned.centroids) / dataset_.features(),
                      dataset_);
      if (dataset_.source() == nullptr) {
        check_samples();
      } else {
        check_statistics();  // rows that are read in blocks are read only once, below
      }
    });
  });
  const std::int64_t n = dataset_.samples();
  if (dataset_.in_device_memory()) {
    return with_core_errors([&] { return check_fetched_rows(*backend_, dataset_, returned); });
  }
  const auto for_each_block = [&](const auto& body) {
    if (dataset_.in_memory()) return for_each_part(dataset_, progress, body);
    streamed_->for_each_block({0, n}, [&](RowRange rows, const void* data) {
      Matrix block = dataset_.matrix();
      block.data = data;
      block.rows = rows.size();
      block.stride = block.columns;
      body(rows.begin, block);
      ranks.progress();
      if (progress) progress(rows.end, n);
    });
  };
  try {
    return with_core_errors(
        [&] { return check_by_definition(*backend_, dataset_, returned, for_each_block); });
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    // The file may have changed meanwhile, on any rank.
    with_core_errors([&] {
      ranks.together([&] {
        rethrow_source_failure();
        check_samples();
      });
    });
    throw;
  }
}

ResultCheck check_returned_fit(BackendSession& session, const Fit& fit,
                               const ProgressFunction& progress) {
  const SessionUse use(session, SessionUse::Scope::call);
  return session.run_check({fit.centroids, fit.labels, fit.result.inertia}, progress);
}

ResultCheck check_returned_fit(const LoadedBackend& backend, const Dataset& dataset,
                               std::span<const double> centroids,
                               std::span<const std::int32_t> labels, double inertia,
                               const ProgressFunction& progress) {
  const FloatEnvironment environment;
  check_sizes(dataset, centroids, labels);
  dataset.check_mapped_file();
  try {
    return with_core_errors([&] {
      return check_by_definition(backend, dataset, {centroids, labels, inertia},
                                 [&](const auto& body) { for_each_part(dataset, progress, body); });
    });
  } catch (const BackendError&) {
    dataset.check_unchanged();  // the file may have changed meanwhile
    throw;
  }
}

}  // namespace lloyd

// fit and label: the core's calls for whoever wants clusters, not a backend's interface.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/plugin/requests.hpp>
#include <lloyd/registry.hpp>
#include <lloyd/seeding.hpp>

namespace lloyd {

/// What a user asks for; the defaults are Lloyd's defaults everywhere.
struct FitOptions {
  std::int64_t clusters = 8;          ///< k, 1 <= k <= n
  Seeding seeding{};                  ///< how the initial centroids are chosen
  std::int64_t restarts = 1;          ///< >= 1; the fit of least inertia is kept
  std::int64_t max_iterations = 300;  ///< >= 1
  /// Relative to the mean variance of the features; 0 switches the rule off.
  double tolerance = 1e-4;
  /// true: exactly max_iterations are run, whatever happens.
  bool fixed_iterations = false;
  EmptyClusters empty_clusters = EmptyClusters::relocate;  ///< what becomes of them
  bool profile = false;       ///< measure the phases; the fit may run slower
  std::uint32_t observe = 0;  ///< kObserve... bits, for the observer
};

/// How many values of samples and centroids are compared at most to check labels, n * k * d if all
/// samples are; beyond that as many samples are drawn as this allows, the same in every check.
inline constexpr std::int64_t kComparedValues = std::int64_t{1} << 24;
/// Samples that are drawn at least.
inline constexpr std::int64_t kMinComparedSamples = 64;

/// What a backend's labels, centroids and inertia were held to. The inertia was computed again from
/// all samples, and agrees.
struct ResultCheck {
  std::int64_t samples = 0;  ///< whose labels were compared with the definition; n: all
  /// Of these; backends that do not state exact labels may have wrong ones.
  LabelCheck labels;
  double inertia = std::numeric_limits<double>::quiet_NaN();  ///< by the definition
  double ms = 0;                                              ///< wall time of the check
};

/// A finished or cancelled fit. Arrays are in host memory.
struct Fit {
  std::int64_t clusters = 0;         ///< k
  std::int64_t features = 0;         ///< d
  std::vector<double> centroids;     ///< k x d
  std::vector<std::int32_t> labels;  ///< n; empty when this fit was cancelled
  std::vector<std::int64_t> counts;  ///< k; empty when this fit was cancelled
  FitResult result;                  ///< its pointers are null; inertia, iterations, times
  /// What the backend chose from the sizes, in its own words, printable; empty where it says
  /// nothing.
  std::string notes;
  /// The fit, or a later restart than the one that was kept, was cancelled.
  bool cancelled = false;
  std::int64_t restart = 0;  ///< which restart this is, 0-based
  double seeding_ms = 0;     ///< all restarts
  double fit_ms = 0;         ///< the backend's fit calls, all restarts; without seeding and opening
  /// Where it was made, see OpenSession::check().
  std::optional<ResultCheck> check = std::nullopt;
};

/// A data set made resident in a backend. Refuses, before anything is allocated, a data set or
/// parameters that the backend's info does not cover.
class OpenSession {
 public:
  /// `dataset` must outlive the session. One that is not in memory is read in every pass, block by
  /// block of `block_rows` rows (>= 1; see plan_memory), of which two are held. Throws InputError
  /// or BackendError.
  OpenSession(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
              const ParameterSet& parameters, std::int64_t block_rows = 0);
  ~OpenSession();
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  /// One fit from given initial centroids (k x d). Throws InputError for options out of range,
  /// BackendError for whatever the backend reports; a cancelled fit is returned.
  Fit fit_from(const std::vector<double>& initial_centroids, const FitOptions& options,
               Observer* observer = nullptr);
  /// Labels, counts, inertia and, where wanted, squared distances for given centroids (k x d; k may
  /// exceed n). Throws InputError for centroids of another shape or not finite, BackendError for
  /// whatever the backend reports, `cancelled` included.
  LabelResult label(const std::vector<double>& centroids, std::int64_t clusters,
                    std::vector<std::int32_t>& labels, std::vector<std::int64_t>& counts,
                    std::vector<double>* squared_distances = nullptr, Observer* observer = nullptr);

  /// Holds labels, centroids (k x d) and inertia that the backend returned to the definitions.
  /// Takes a pass over the data set, on this thread. Throws BackendError where the backend changed
  /// the samples or their statistics, where a label is not in [0, k) or the inertia is not that of
  /// the labels and centroids, or where a label is not that of the nearest centroid and the backend
  /// states exact labels.
  ResultCheck check(const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                    double inertia);

  /// The backend's session, which this object ends.
  Session& session() { return *session_; }
  /// The backend it was opened on.
  const LoadedBackend& backend() const { return *backend_; }
  /// The data set that is resident.
  const Dataset& dataset() const { return dataset_; }
  /// Wall time of opening: transfer and statistics of the backend's own.
  double open_ms() const { return open_ms_; }

 private:
  void check_inputs() const;
  void rethrow_source_failure() const;

  std::shared_ptr<const LoadedBackend> backend_;
  const Dataset& dataset_;
  ParameterSet parameters_;
  std::vector<FeatureStatistics> statistics_;  // as they were before the backend saw them
  Session* session_ = nullptr;
  double open_ms_ = 0;
};

/// Seeds and fits `options.restarts` times on one session and keeps the fit of least inertia, which
/// is checked. Throws as OpenSession's functions do.
Fit fit(OpenSession& session, const FitOptions& options, Observer* observer = nullptr);

/// Checks options against a data set: k in [1, n], counts >= 1, tolerance finite and >= 0. Throws
/// InputError.
void check_options(const FitOptions& options, const Dataset& dataset);

/// Throws what fit_from() would throw for such options, before a data set is made resident:
/// InputError for options out of range, BackendError for what is beyond the backend.
void check_fit(const LoadedBackend& backend, const Dataset& dataset, const ParameterSet& parameters,
               const FitOptions& options);

/// The specification that a backend is handed, without initial centroids. `mean_variance` is the
/// data set's; it makes the tolerance absolute.
FitSpec make_spec(const FitOptions& options, double mean_variance);
/// The size of a problem, for the boundary.
ProblemShape make_shape(const Dataset& dataset, std::int64_t clusters);

/// Why the backend cannot do such a fit (kCapability... bits, limits); empty when it can.
std::string unsupported_reason(const LoadedBackend& backend, const ProblemShape& shape,
                               std::uint64_t required_capabilities, const ParameterSet& parameters,
                               const FitSpec& spec);
/// Memory that such a fit will hold, beyond data set and results. Throws BackendError when the
/// backend cannot say.
MemoryEstimate estimate_memory(const LoadedBackend& backend, const ProblemShape& shape,
                               const ParameterSet& parameters, const FitSpec& spec);

}  // namespace lloyd

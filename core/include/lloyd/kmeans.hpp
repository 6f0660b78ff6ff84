// kmeans(): clusters samples in memory with one call.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <lloyd/backend_choice.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/matrix_view.hpp>

namespace lloyd {

/// Options of kmeans(). All have defaults. If a function in the options throws, the fit is
/// cancelled, and kmeans() throws the exception once the backend has returned. With several ranks,
/// the other ranks return a cancelled fit, or the finished one if the exception came after the last
/// iteration.
struct KMeansOptions {
  /// k is an argument of kmeans(), so `clusters` must have its default or be equal to k.
  FitOptions fit = {};
  BackendChoice backend = {};  ///< default: the available backend with the highest preference
  /// Called after each iteration, in order, on the calling thread; returning false cancels the fit.
  /// `fit.observe` selects more than the default kObserveIterations. Iterations are counted from 1
  /// in each restart.
  std::function<bool(const IterationRecord& record)> on_iteration = {};
  /// Polled during seeding and within iterations; returning true cancels the fit. May be called
  /// from any thread.
  StopFunction stop = {};
  /// Rows per block (>= 1), if the data set is not in memory; see BackendSession. Blocks have at
  /// least 64 KiB of values: kmeans() raises a smaller number.
  std::int64_t block_rows = 65536;
  /// Receives the progress of seeding and of the check of the result; see StageFunction.
  StageFunction on_stage = {};
  /// Checkpoints, if their folder is not empty. The last one remains; see fit().
  CheckpointOptions checkpoints = {};
};

/// Clusters n samples (not values) of d float32 features, row-major without gaps, into k clusters:
/// seeds, fits, checks the result. Samples are in host memory and only read. A fit that `stop` or
/// `on_iteration` cancelled is returned with Fit::cancelled set; without centroids if no iteration
/// finished. Throws InputError for a null pointer, for sizes, values and options out of range and
/// for what load_backend() refuses, BackendError for an error of the backend, and std::bad_alloc if
/// host memory is exhausted; see Error.
Fit kmeans(const float* samples, std::int64_t n, std::int64_t d, std::int64_t k,
           const KMeansOptions& options = {});
/// The same for float64 samples.
Fit kmeans(const double* samples, std::int64_t n, std::int64_t d, std::int64_t k,
           const KMeansOptions& options = {});
/// The same for a vector or an array of samples: n x d values, from which n follows. Throws
/// InputError unless their number is a multiple of d >= 1.
Fit kmeans(std::span<const float> samples, std::int64_t d, std::int64_t k,
           const KMeansOptions& options = {});
/// The same for float64 samples.
Fit kmeans(std::span<const double> samples, std::int64_t d, std::int64_t k,
           const KMeansOptions& options = {});
/// The same for samples of any row stride.
Fit kmeans(const Matrix& samples, std::int64_t k, const KMeansOptions& options = {});
/// The same for samples in device memory, which no copy from the host precedes: the backend, by
/// default the preferred one that reads device memory, uses them in place or copies them within the
/// device. Its parameter `device` is that of the samples unless it is given. Returned arrays are in
/// host memory; BackendSession::copy_results() also writes to device memory.
Fit kmeans(const DeviceMatrix& samples, std::int64_t k, const KMeansOptions& options = {});
/// The same for a data set, which may be read block by block. A data set validates its values once,
/// which saves time if it is clustered several times.
Fit kmeans(const Dataset& dataset, std::int64_t k, const KMeansOptions& options = {});

}  // namespace lloyd

#include <lloyd/kmeans.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/row_blocks.hpp"
#include "session/kept_exception.hpp"

namespace lloyd {
namespace {

// Calls the functions of the options. If one throws, keeps the exception and cancels the fit.
class FunctionObserver final : public Observer {
 public:
  explicit FunctionObserver(const KMeansOptions& options) : options_(options) {}

  bool on_iteration(const IterationRecord& record) noexcept override {
    return kept_.call(false,
                      [&] { return !options_.on_iteration || options_.on_iteration(record); });
  }
  bool stop_requested() const noexcept override {
    return kept_.call(true, [&] { return options_.stop && options_.stop(); });
  }
  const KeptException& kept() const { return kept_; }

 private:
  const KMeansOptions& options_;
  mutable KeptException kept_;
};

bool has_parameter(const LoadedBackend& backend, std::string_view name) {
  const std::vector<ParameterInfo> schema = backend.default_parameters().schema();
  return std::any_of(schema.begin(), schema.end(),
                     [&](const ParameterInfo& parameter) { return name == parameter.name; });
}

// A vector of samples with d features each.
template <class T>
Matrix sample_matrix(std::span<const T> samples, std::int64_t d) {
  const std::int64_t values = std::ssize(samples);
  if (d < 1 || values % d != 0) {
    throw InputError(fmt::format(
        "samples: {} cannot be divided into samples of {}; their number must be a multiple of d, "
        "which is at least 1",
        format_count(values, "value"), format_count(d, "feature")));
  }
  return Matrix::view(samples.data(), values / d, d);
}

}  // namespace

Fit kmeans(const float* samples, std::int64_t n, std::int64_t d, std::int64_t k,
           const KMeansOptions& options) {
  check_pointer("samples", samples, n, d);
  return kmeans(Matrix::view(samples, n, d), k, options);
}

Fit kmeans(const double* samples, std::int64_t n, std::int64_t d, std::int64_t k,
           const KMeansOptions& options) {
  check_pointer("samples", samples, n, d);
  return kmeans(Matrix::view(samples, n, d), k, options);
}

Fit kmeans(std::span<const float> samples, std::int64_t d, std::int64_t k,
           const KMeansOptions& options) {
  return kmeans(sample_matrix(samples, d), k, options);
}

Fit kmeans(std::span<const double> samples, std::int64_t d, std::int64_t k,
           const KMeansOptions& options) {
  return kmeans(sample_matrix(samples, d), k, options);
}

Fit kmeans(const Matrix& samples, std::int64_t k, const KMeansOptions& options) {
  return kmeans(Dataset("the data", samples), k, options);
}

Fit kmeans(const DeviceMatrix& samples, std::int64_t k, const KMeansOptions& options) {
  KMeansOptions on_device = options;
  BackendChoice& choice = on_device.backend;
  choice.required_capabilities |= kCapabilityDeviceMemory;
  const auto backend = load_backend(choice);
  if (!choice.parameters.contains("device") && has_parameter(*backend, "device")) {
    choice.parameters["device"] = std::to_string(samples.device);
  }
  choice.name = backend->name();
  return kmeans(Dataset("the data", samples, backend), k, on_device);
}

Fit kmeans(const Dataset& dataset, std::int64_t k, const KMeansOptions& options) {
  const FloatEnvironment environment;
  FitOptions fit_options = options.fit;
  if (fit_options.clusters != FitOptions().clusters && fit_options.clusters != k) {
    throw InputError(
        fmt::format("KMeansOptions::fit.clusters is {}, but k is {}; leave it at its default",
                    fit_options.clusters, k));
  }
  fit_options.clusters = k;
  if (!options.on_iteration && fit_options.observe != 0) {
    throw InputError(fmt::format(
        "KMeansOptions::fit.observe is 0x{:x}, but on_iteration, which receives what is observed, "
        "is empty",
        fit_options.observe));
  }
  if (options.on_iteration && fit_options.observe == 0) fit_options.observe = kObserveIterations;
  check_options(fit_options, dataset);
  const auto backend = load_backend(options.backend);
  const ParameterSet parameters = parameters_of(*backend, options.backend);
  check_fit(*backend, dataset, parameters, fit_options);
  const std::int64_t block_rows =
      dataset.source() == nullptr || options.block_rows < 1  // the session refuses the latter
          ? options.block_rows
          : std::max(options.block_rows, min_block_rows(*dataset.source()));
  BackendSession session(backend, dataset, parameters, block_rows);
  FunctionObserver observer(options);
  const bool observed = options.on_iteration || options.stop;
  return observer.kept().rethrow_after([&] {
    return fit(session, fit_options, observed ? &observer : nullptr, options.on_stage, {},
               options.checkpoints);
  });
}

}  // namespace lloyd

#include "dataset/device_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/plugin/sdk/row_statistics.hpp>
#include <lloyd/registry.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/fingerprint.hpp"
#include "dataset/statistics_pass.hpp"

namespace lloyd {
namespace {

Matrix shape_of(const DeviceMatrix& matrix) {
  return {nullptr, nullptr, matrix.rows, matrix.columns, matrix.stride, matrix.dtype};
}

// True if the value is a multiple of 2^exponent.
bool is_multiple(double value, int exponent) {
  return value == 0 || lowest_bit_exponent(value) >= exponent;
}

}  // namespace

DeviceRows::DeviceRows(std::string name, DeviceMatrix matrix,
                       std::shared_ptr<const LoadedBackend> backend)
    : name_(std::move(name)), matrix_(std::move(matrix)), backend_(std::move(backend)) {
  check_shape(name_, shape_of(matrix_));
  if (matrix_.data == nullptr) {
    throw InputError(fmt::format("{}: the data pointer is null", name_));
  }
  if (backend_ == nullptr) {
    throw InputError(fmt::format(
        "{}: the backend is a null pointer; samples in device memory are read by a backend",
        name_));
  }
  if (!backend_->available()) {
    throw BackendError(
        StatusCode::unavailable,
        fmt::format("{} is not available: {}", backend_->name(), backend_->unavailable()));
  }
  if ((backend_->info().capabilities & kCapabilityDeviceMemory) == 0) {
    throw BackendError(
        StatusCode::unsupported,
        fmt::format("{}: the samples are in device memory, and {} reads only samples "
                    "in host memory",
                    name_, backend_->name()));
  }
  memory_ = static_cast<DeviceMemory*>(backend_->backend().query(kDeviceMemory));
  if (memory_ == nullptr) {
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: it declares that it reads device memory, but has no {}",
                                   backend_->name(), kDeviceMemory));
  }
  const std::vector<DeviceInfo>& devices = backend_->devices();
  const bool is_listed = std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
    return device.index == matrix_.device;
  });
  if (!is_listed) {
    throw InputError(fmt::format(
        "{}: the samples are said to be on device {}, but {} lists {} devices, counted from 0",
        name_, matrix_.device, backend_->name(), devices.size()));
  }
}

DatasetView DeviceRows::view() const {
  DatasetView view;
  view.required_capabilities =
      kCapabilityDeviceMemory |
      (matrix_.dtype == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64) |
      (matrix_.stride != matrix_.columns ? kCapabilityStrided : 0u);
  view.data = matrix_.data;
  view.samples = view.total_samples = matrix_.rows;
  view.features = matrix_.columns;
  view.stride = matrix_.stride;
  view.dtype = matrix_.dtype;
  view.memory_space = MemorySpace::device;
  view.device = matrix_.device;
  view.stream = matrix_.stream;
  return view;
}

DeviceRows::Description DeviceRows::describe() const {
  Description found;
  found.statistics.resize(static_cast<std::size_t>(matrix_.columns));
  RowsDescription description;
  description.statistics = found.statistics.data();
  throw_unless_ok(backend_->name(), memory_->describe(view(), description));
  if (description.invalid_row >= 0) {
    throw_not_finite(description.invalid_row, description.invalid_feature);
  }
  check_statistics(found.statistics);
  check_squared_range(name_, found.statistics);
  // The shape and the type, with the hash in place of the values.
  Fingerprint fingerprint(matrix_.rows, matrix_.columns, matrix_.dtype);
  const auto hash = std::bit_cast<double>(description.hash);
  Fingerprint of_hash(1, 1, DType::float64);
  of_hash.add(&hash, 1, 1);
  found.fingerprint = fingerprint.value() ^ of_hash.value();
  return found;
}

// The first value that is not finite, by the backend's account.
void DeviceRows::throw_not_finite(std::int64_t row, std::int64_t feature) const {
  if (row >= matrix_.rows || feature < 0 || feature >= matrix_.columns) {
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: it reports an infinite value in row {}, column {} of {} x "
                                   "{} samples",
                                   backend_->name(), row, feature, matrix_.rows, matrix_.columns));
  }
  std::vector<double> values(static_cast<std::size_t>(matrix_.columns));
  copy({&row, 1}, values.data());
  const double value = values[static_cast<std::size_t>(feature)];
  if (std::isfinite(value)) {
    throw BackendError(StatusCode::internal,
                       fmt::format("{}: it reports an infinite value in row {}, column {}, where "
                                   "{} stands",
                                   backend_->name(), row, feature, value));
  }
  const std::string message =
      fmt::format("{}: row {}, column {} (counted from 0) is {}; all values must be finite", name_,
                  row, feature, value);
  if (std::isnan(value)) throw MissingValueError(message);
  throw InputError(message);
}

void DeviceRows::fail_statistics(std::size_t feature, const std::string& fault) const {
  throw BackendError(StatusCode::internal,
                     fmt::format("{}: its statistics of feature {} are impossible: {}",
                                 backend_->name(), feature, fault));
}

// Statistics decide about exact sums and overflow, so that wrong ones would make wrong results.
void DeviceRows::check_statistics(const std::vector<FeatureStatistics>& statistics) const {
  constexpr double kRounding = 1e-12;
  const std::int64_t last = matrix_.rows - 1;
  const std::int64_t ends[] = {0, last};
  std::vector<double> rows(2 * statistics.size());
  copy(ends, rows.data());
  for (std::size_t j = 0; j < statistics.size(); ++j) {
    const FeatureStatistics& of = statistics[j];
    if (!std::isfinite(of.minimum) || !std::isfinite(of.maximum) || of.minimum > of.maximum) {
      fail_statistics(j, fmt::format("the values are from {} to {}", of.minimum, of.maximum));
    }
    const double range = of.maximum - of.minimum;
    const double largest = std::max(std::abs(of.minimum), std::abs(of.maximum));
    if (!(of.mean >= of.minimum - kRounding * largest) ||
        !(of.mean <= of.maximum + kRounding * largest)) {
      fail_statistics(
          j, fmt::format("the mean {} is outside of {} to {}", of.mean, of.minimum, of.maximum));
    }
    // Half of the values at either end have the largest variance.
    const double bound = range * range / 4;
    if (!(of.variance >= 0) ||
        !(of.variance <= bound + 1e-6 * bound + kRounding * largest * range)) {
      fail_statistics(j, fmt::format("the variance is {}, with values from {} to {}", of.variance,
                                     of.minimum, of.maximum));
    }
    const int exponent = of.quantum_exponent;
    if ((largest == 0 && exponent != 0) || !is_multiple(of.minimum, exponent) ||
        !is_multiple(of.maximum, exponent)) {
      fail_statistics(j, fmt::format("the quantum is 2^{}, with values from {} to {}", exponent,
                                     of.minimum, of.maximum));
    }
    for (std::size_t end = 0; end < 2; ++end) {
      const double value = rows[end * statistics.size() + j];
      if (value >= of.minimum && value <= of.maximum && is_multiple(value, exponent)) continue;
      fail_statistics(j, fmt::format("the value of row {} is {}, with values from {} to {} and the "
                                     "quantum 2^{}",
                                     ends[end], value, of.minimum, of.maximum, exponent));
    }
  }
}

void DeviceRows::copy(std::span<const std::int64_t> rows, double* values) const {
  const auto count = std::ssize(rows);
  if (count == 0) return;
  const auto copy_values = [&](void* to) {
    throw_unless_ok(backend_->name(), memory_->copy_rows(view(), rows.data(), count, to));
  };
  if (matrix_.dtype == DType::float64) return copy_values(values);
  std::vector<float> narrow(rows.size() * static_cast<std::size_t>(matrix_.columns));
  copy_values(narrow.data());
  std::copy(narrow.begin(), narrow.end(), values);
}

}  // namespace lloyd

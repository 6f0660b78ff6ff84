#include <lloyd/dataset.hpp>

#include <algorithm>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include <lloyd/data/backing_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/ranks.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "dataset/check_shape.hpp"
#include "dataset/checked_rows.hpp"
#include "dataset/device_rows.hpp"
#include "dataset/fingerprint.hpp"
#include "dataset/row_blocks.hpp"
#include "dataset/statistics_pass.hpp"

namespace lloyd {
namespace {

template <class T>
Matrix own_values(std::vector<T> values, std::int64_t rows, std::int64_t columns, DType dtype) {
  std::int64_t size = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &size) ||
      size != std::ssize(values)) {
    throw InputError(fmt::format(
        "{} values are given for {} of {}{}", values.size(), format_count(rows, "row"),
        format_count(columns, "column"),
        rows == std::ssize(values) ? "; rows is the number of samples, not of values" : ""));
  }
  auto storage = std::make_shared<std::vector<T>>(std::move(values));
  Matrix matrix;
  matrix.data = storage->data();
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = columns;
  matrix.dtype = dtype;
  matrix.storage = std::move(storage);
  return matrix;
}

Matrix view_values(const void* values, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                   DType dtype) {
  Matrix matrix;
  matrix.data = values;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = stride == 0 ? columns : stride;
  matrix.dtype = dtype;
  return matrix;
}

DeviceMatrix view_device_values(const void* values, std::int64_t rows, std::int64_t columns,
                                std::int64_t stride, DType dtype, std::int32_t device,
                                void* stream) {
  return {nullptr, values, rows, columns, stride == 0 ? columns : stride, dtype, device, stream};
}

}  // namespace

void check_shape(const std::string& name, const Matrix& matrix) {
  if (matrix.rows < 1 || matrix.columns < 1) {
    throw InputError(fmt::format("{}: the data set has {} and {}; at least 1 of each is needed",
                                 name, format_count(matrix.rows, "row"),
                                 format_count(matrix.columns, "column")));
  }
  const auto dtype = static_cast<std::int32_t>(matrix.dtype);
  if (dtype < 0 || dtype > static_cast<std::int32_t>(DType::float64)) {
    throw InputError(
        fmt::format("{}: the dtype is {}; it must be DType::float32 or float64", name, dtype));
  }
  if (matrix.stride < matrix.columns) {
    throw InputError(fmt::format("{}: the stride {} is below the number of columns {}", name,
                                 matrix.stride, matrix.columns));
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(matrix.rows, matrix.stride, &bytes) ||
      __builtin_mul_overflow(bytes, size_of(matrix.dtype), &bytes)) {
    throw InputError(fmt::format("{}: {} of {} values overflow 64-bit sizes", name,
                                 format_count(matrix.rows, "row"), matrix.stride));
  }
}

void require_host_memory(const Dataset& dataset, const char* work) {
  if (!dataset.in_device_memory()) return;
  throw InputError(fmt::format("{}: the samples are in device memory; {} needs them in host memory",
                               dataset.name(), work));
}

void check_values_given(const std::string& name, const Matrix& matrix) {
  if (matrix.data != nullptr) return;
  throw InputError(
      fmt::format("{}: the data pointer is null; it must point to the samples (the matrix of a "
                  "data set that is read in blocks has none: pass the data set itself, or label it "
                  "with BackendSession::label())",
                  name));
}

void check_pointer(const char* name, const void* pointer, std::int64_t n, std::int64_t d) {
  if (pointer != nullptr || n < 1 || d < 1) return;
  throw InputError(fmt::format("{} is a null pointer; it must point to {} x {}", name, n,
                               format_count(d, "value")));
}

void check_classes(const Dataset& dataset) {
  if (dataset.classes.empty() || std::ssize(dataset.classes) == dataset.samples()) return;
  throw InputError(fmt::format("{}: there are {} classes for {}", dataset.name(),
                               dataset.classes.size(), format_count(dataset.samples(), "sample")));
}

void check_feature_names(const Dataset& dataset) {
  if (dataset.feature_names.empty() || std::ssize(dataset.feature_names) == dataset.features()) {
    return;
  }
  throw InputError(fmt::format("{}: there are {} feature names for {}", dataset.name(),
                               dataset.feature_names.size(),
                               format_count(dataset.features(), "feature")));
}

Matrix Matrix::from_values(std::vector<float> values, std::int64_t rows, std::int64_t columns) {
  return own_values(std::move(values), rows, columns, DType::float32);
}

Matrix Matrix::from_values(std::vector<double> values, std::int64_t rows, std::int64_t columns) {
  return own_values(std::move(values), rows, columns, DType::float64);
}

Matrix Matrix::view(const float* values, std::int64_t rows, std::int64_t columns,
                    std::int64_t stride) {
  return view_values(values, rows, columns, stride, DType::float32);
}

Matrix Matrix::view(const double* values, std::int64_t rows, std::int64_t columns,
                    std::int64_t stride) {
  return view_values(values, rows, columns, stride, DType::float64);
}

DeviceMatrix DeviceMatrix::view(const float* values, std::int64_t rows, std::int64_t columns,
                                std::int64_t stride, std::int32_t device, void* stream) {
  return view_device_values(values, rows, columns, stride, DType::float32, device, stream);
}

DeviceMatrix DeviceMatrix::view(const double* values, std::int64_t rows, std::int64_t columns,
                                std::int64_t stride, std::int32_t device, void* stream) {
  return view_device_values(values, rows, columns, stride, DType::float64, device, stream);
}

Dataset::Dataset(std::string name, Matrix matrix)
    : name_(std::move(name)), matrix_(std::move(matrix)) {
  check_matrix();
  check_file();
  describe([this](StatisticsPass& pass) { pass.add(matrix_.data, matrix_.stride, matrix_.rows); });
}

Dataset::Dataset(Matrix matrix, const RowSource& source)
    : name_(source.name()), matrix_(std::move(matrix)) {
  check_matrix();
  check_file();
  describe([this](StatisticsPass& pass) { pass.add(matrix_.data, matrix_.stride, matrix_.rows); },
           &source);
}

Dataset::Dataset(std::string name, Matrix matrix, std::vector<FeatureStatistics> statistics,
                 std::uint64_t fingerprint)
    : name_(std::move(name)),
      matrix_(std::move(matrix)),
      statistics_(std::move(statistics)),
      fingerprint_(fingerprint) {
  check_matrix();
  if (std::ssize(statistics_) != matrix_.columns) {
    throw InputError(fmt::format("{}: there are statistics of {}, the data has {}", name_,
                                 format_count(statistics_.size(), "feature"), matrix_.columns));
  }
  average_variance();
}

Dataset::Dataset(std::string name, DeviceMatrix matrix,
                 std::shared_ptr<const LoadedBackend> backend)
    : name_(std::move(name)) {
  const auto start = std::chrono::steady_clock::now();
  const FloatEnvironment environment;
  matrix_.rows = matrix.rows;
  matrix_.columns = matrix.columns;
  matrix_.stride = matrix.stride;
  matrix_.dtype = matrix.dtype;
  device_ = std::make_shared<DeviceRows>(name_, std::move(matrix), std::move(backend));
  DeviceRows::Description description = device_->describe();
  statistics_ = std::move(description.statistics);
  average_variance();
  fingerprint_ = description.fingerprint;
  statistics_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

const DeviceMatrix* Dataset::device_matrix() const {
  return device_ == nullptr ? nullptr : &device_->matrix();
}

Dataset::Dataset(std::shared_ptr<const RowSource> source, std::int64_t block_rows,
                 const std::function<bool(std::int64_t rows)>& stop) {
  open_source(std::move(source));
  describe([&](StatisticsPass& pass) { read_source(pass, block_rows, stop); }, source_.get());
  rounding = source_->rounding();
}

Dataset Dataset::part(std::string name, Matrix matrix, std::shared_ptr<Communicator> communicator) {
  if (communicator == nullptr) return {std::move(name), std::move(matrix)};
  Dataset dataset;
  dataset.name_ = std::move(name);
  dataset.matrix_ = std::move(matrix);
  const auto open = [&dataset] {
    if (dataset.matrix_.rows != 0) {
      dataset.check_matrix();
      return dataset.check_file();
    }
    dataset.matrix_.stride = std::max(dataset.matrix_.stride, dataset.matrix_.columns);
    Matrix one_row = dataset.matrix_;
    one_row.rows = 1;
    check_shape(dataset.name_, one_row);
  };
  dataset.join_ranks(std::move(communicator), open, [&dataset](StatisticsPass& pass) {
    const Matrix& rows = dataset.matrix_;
    if (rows.rows > 0) pass.add(rows.data, rows.stride, rows.rows);
  });
  return dataset;
}

Dataset Dataset::part(std::shared_ptr<const RowSource> source, std::int64_t block_rows,
                      std::shared_ptr<Communicator> communicator,
                      const std::function<bool(std::int64_t rows)>& stop) {
  if (communicator == nullptr) return {std::move(source), block_rows, stop};
  Dataset dataset;
  const auto open = [&] { dataset.open_source(std::move(source)); };
  dataset.join_ranks(std::move(communicator), open, [&](StatisticsPass& pass) {
    dataset.read_source(pass, block_rows, stop);
    dataset.rounding = dataset.source_->rounding();
  });
  return dataset;
}

void Dataset::open_source(std::shared_ptr<const RowSource> source) {
  if (source == nullptr) throw InputError("the source of rows is null");
  source_ = std::move(source);
  name_ = source_->name();
  matrix_.rows = source_->samples();
  matrix_.columns = matrix_.stride = source_->features();
  matrix_.dtype = source_->dtype();
  check_shape(name_, matrix_);
}

void Dataset::read_source(StatisticsPass& pass, std::int64_t block_rows,
                          const std::function<bool(std::int64_t rows)>& stop) {
  const Ranks ranks(communicator_);
  RowHashes hashes(samples(), features(), dtype());
  RowBlocks blocks(*source_, block_rows, MarkedRows::every);
  blocks.for_each([&](RowRange rows, const void* data) {
    ranks.progress();
    if (stop && stop(rows.begin)) throw Cancelled();
    pass.add(data, matrix_.columns, rows.size());
    hashes.store(rows, data);
  });
  source_ = std::make_shared<CheckedRows>(std::move(source_), std::move(hashes));
}

// `open` checks the rows of this rank; `read` passes them to the statistics.
void Dataset::join_ranks(std::shared_ptr<Communicator> communicator,
                         const std::function<void()>& open,
                         const std::function<void(StatisticsPass&)>& read) {
  with_core_errors([&] {
    const Ranks ranks(communicator);
    communicator_ = std::move(communicator);
    ranks.together(open);
    describe_part(ranks, read);
  });
}

void Dataset::describe_part(const Ranks& ranks, const std::function<void(StatisticsPass&)>& read) {
  struct Shape {
    std::int64_t rows, columns, dtype;
  };
  const Shape mine{matrix_.rows, matrix_.columns, static_cast<std::int64_t>(matrix_.dtype)};
  const std::vector<Shape> shapes = ranks.gather(mine);
  const auto type_name = [](std::int64_t dtype) {
    return static_cast<DType>(dtype) == DType::float32 ? "float32" : "float64";
  };
  for (std::size_t rank = 0; rank < shapes.size(); ++rank) {
    const Shape& shape = shapes[rank];
    if (rank == static_cast<std::size_t>(ranks.rank())) first_row_ = total_samples_;
    if (__builtin_add_overflow(total_samples_, shape.rows, &total_samples_)) {
      throw InputError(fmt::format("{}: the rows of all ranks overflow 64-bit sizes", name_));
    }
    if (shape.columns == shapes[0].columns && shape.dtype == shapes[0].dtype) continue;
    throw InputError(fmt::format("{}: rank {} has {} of {}, where rank 0 has {} of {}", name_, rank,
                                 format_count(shape.columns, "column"), type_name(shape.dtype),
                                 shapes[0].columns, type_name(shapes[0].dtype)));
  }
  if (total_samples_ == 0) {
    throw InputError(fmt::format("{}: no rank has a row; at least 1 is needed", name_));
  }
  const auto start = std::chrono::steady_clock::now();
  const FloatEnvironment environment;
  const std::string place = matrix_.file == nullptr ? name_ : matrix_.file->path();
  StatisticsPass pass(place, samples(), features(), dtype(), first_row_);
  ranks.together([&] {
    read(pass);
    fingerprint_ = pass.fingerprint();
    check_unchanged();
  });
  pass.combine(ranks);
  statistics_ = pass.statistics();
  average_variance();
  statistics_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void Dataset::check_matrix() const {
  check_shape(name_, matrix_);
  check_values_given(name_, matrix_);
}

void Dataset::describe(const std::function<void(StatisticsPass&)>& read, const RowSource* source) {
  const auto start = std::chrono::steady_clock::now();
  const FloatEnvironment environment;
  const std::string place = matrix_.file == nullptr ? name_ : matrix_.file->path();
  StatisticsPass pass(place, samples(), features(), dtype(), 0, source);
  read(pass);
  statistics_ = pass.statistics();
  average_variance();
  fingerprint_ = pass.fingerprint();
  check_unchanged();
  statistics_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// The size and modification time of a source's file are checked with each block that is read.
void Dataset::check_unchanged() const {
  std::string touched;
  if (matrix_.file != nullptr) {
    matrix_.file->check_unchanged();
    if (matrix_.file->status_has_changed()) touched = matrix_.file->path();
  } else if (source_ != nullptr) {
    touched = source_->touched_file();
  }
  if (touched.empty() || hash_values() == fingerprint_) return;
  throw InputError(changed_file_text(touched));
}

void Dataset::check_mapped_file() const {
  if (statistics_.empty()) {
    throw InputError(
        "the data set has no samples, because it was moved from; use the object that it was moved "
        "to");
  }
  check_file();
}

// Unlike check_mapped_file(), may be called before the statistics are known.
void Dataset::check_file() const {
  if (matrix_.file != nullptr) matrix_.file->check_unchanged();
}

std::uint64_t Dataset::compute_fingerprint() const {
  check_mapped_file();
  return hash_values();
}

std::uint64_t Dataset::hash_values() const {
  if (device_ != nullptr) return device_->describe().fingerprint;
  check_file();
  Fingerprint fingerprint(samples(), features(), dtype());
  if (in_memory()) {
    fingerprint.add(matrix_.data, matrix_.stride, matrix_.rows);
  } else {
    // In addition to the blocks of a session.
    RowBlocks(*source_, usual_block_rows(*source_)).for_each([&](RowRange rows, const void* data) {
      fingerprint.add(data, matrix_.columns, rows.size());
    });
  }
  return fingerprint.value();
}

void Dataset::average_variance() {
  const FloatEnvironment environment;
  for (const FeatureStatistics& feature : statistics_) mean_variance_ += feature.variance;
  mean_variance_ /= static_cast<double>(matrix_.columns);
}

void Dataset::check_row(std::int64_t row) const {
  if (row >= 0 && row < samples()) return;
  throw InputError(fmt::format("{}: sample {} was requested; the data set has {}, counted from 0",
                               name_, row, format_count(samples(), "sample")));
}

std::vector<double> Dataset::sample(std::int64_t row) const {
  check_row(row);
  if (device_ != nullptr) return samples_of({&row, 1});
  check_mapped_file();
  std::vector<double> values;
  if (in_memory()) {
    for (std::int64_t j = 0; j < features(); ++j) values.push_back(matrix_.at(row, j));
    return values;
  }
  const RowRange rows{row, row + 1};
  if (dtype() == DType::float32) {
    std::vector<float> narrow(static_cast<std::size_t>(features()));
    read_block(*source_, rows, narrow.data());
    values.assign(narrow.begin(), narrow.end());
  } else {
    values.resize(static_cast<std::size_t>(features()));
    read_block(*source_, rows, values.data());
  }
  return values;
}

std::vector<double> Dataset::samples_of(std::span<const std::int64_t> rows) const {
  std::vector<double> values;
  if (device_ == nullptr) {
    for (const std::int64_t row : rows) {
      const std::vector<double> one = sample(row);
      values.insert(values.end(), one.begin(), one.end());
    }
    return values;
  }
  for (const std::int64_t row : rows) check_row(row);
  values.resize(rows.size() * static_cast<std::size_t>(features()));
  device_->copy(rows, values.data());
  return values;
}

DatasetView Dataset::view() const {
  if (device_ != nullptr) {
    DatasetView view = device_->view();
    view.statistics = statistics_.data();
    return view;
  }
  DatasetView view;
  view.required_capabilities =
      kCapabilityHostMemory |
      (dtype() == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64) |
      (matrix_.stride != matrix_.columns ? kCapabilityStrided : 0u);
  view.data = matrix_.data;
  view.samples = matrix_.rows;
  view.features = matrix_.columns;
  view.stride = matrix_.stride;
  view.dtype = matrix_.dtype;
  view.statistics = statistics_.data();
  view.total_samples = total_samples();
  return view;
}

}  // namespace lloyd

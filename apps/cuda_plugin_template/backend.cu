// A k-means backend on a CUDA device. The samples are resident on the device, which computes the
// labels; lloyd::LloydLoop does the rest on the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lloyd/plugin/plugin.hpp>

namespace {

constexpr lloyd::ParameterInfo kParameters[] = {
    lloyd::integer_parameter("device", 0, 0, 15, "index of the CUDA device"),
    lloyd::integer_parameter("block_size", 256, 32, 1024, "threads of a block"),
};

// Properties that the backend declares and the conformance suite tests. exact_step_info() declares
// labels that are exact by the definition. That holds because the kernel computes in float64, in
// the definition's order, without fused multiply-add.
constexpr lloyd::BackendInfo kInfo = [] {
  lloyd::BackendInfo info = lloyd::exact_step_info("CUDA: a thread per sample, float64");
  info.set_parameters(kParameters);
  return info;
}();

// The kernel: the nearest centroid to one sample per thread; ties go to the lowest index.
template <class T>
__global__ void label_kernel(const T* samples, std::int64_t rows, std::int64_t features,
                             const double* centroids, std::int64_t clusters, std::int32_t* labels) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const T* x = samples + i * features;
  double smallest = INFINITY;
  std::int32_t nearest = 0;
  for (std::int64_t c = 0; c < clusters; ++c) {
    double distance = 0;
    for (std::int64_t j = 0; j < features; ++j) {
      const double difference = __dsub_rn(static_cast<double>(x[j]), centroids[c * features + j]);
      distance = __dadd_rn(distance, __dmul_rn(difference, difference));
    }
    if (distance < smallest) {
      smallest = distance;
      nearest = static_cast<std::int32_t>(c);
    }
  }
  labels[i] = nearest;
}

lloyd::StatusCode status_code(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return lloyd::StatusCode::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
      return lloyd::StatusCode::unavailable;
    default:
      return lloyd::StatusCode::device_error;
  }
}

// Throws StatusError for any error. `action` completes the message: "copying the labels".
void check(cudaError_t error, const char* action) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // resets the error, so that a later call does not report it again
  throw lloyd::StatusError(status_code(error), std::string("CUDA failed while ") + action + ": " +
                                                   cudaGetErrorString(error));
}

// Makes a device current for its lifetime, and restores the caller's device.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(cudaGetDevice(&former_), "reading the current device");
    check(cudaSetDevice(device), "selecting the device");
  }
  ~DeviceScope() { cudaSetDevice(former_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int former_ = 0;
};

// `size` values in memory of the current device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::int64_t size = 0) {
    if (size == 0) return;
    check(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(T)),
          "allocating device memory");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// Bytes from a product in float64, which cannot overflow.
std::int64_t capped(double bytes) {
  return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
}

// Constructed once for each data set, of float32 or float64 samples.
template <class T>
class CudaStep : public lloyd::StepBase {
 public:
  using value_type = T;

  CudaStep(const lloyd::DatasetView& dataset, const lloyd::ParameterList& parameters)
      : rows_(dataset.samples),
        features_(dataset.features),
        device_(static_cast<int>(parameters.integer("device"))),
        block_size_(static_cast<int>(parameters.integer("block_size"))),
        host_labels_(static_cast<std::size_t>(dataset.samples)) {
    const DeviceScope scope(device_);
    samples_ = DeviceArray<T>(rows_ * features_);
    labels_ = DeviceArray<std::int32_t>(rows_);
    const std::size_t row_bytes = static_cast<std::size_t>(features_) * sizeof(T);
    check(cudaMemcpy2D(samples_.data(), row_bytes, dataset.data,
                       static_cast<std::size_t>(dataset.stride) * sizeof(T), row_bytes,
                       static_cast<std::size_t>(rows_), cudaMemcpyHostToDevice),
          "copying the samples");
  }

  // Lists the devices. Called after the plugin is loaded, before any session is opened.
  static lloyd::Status probe(lloyd::DeviceList* devices) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver) {  // also the answer where there is no driver
      cudaGetLastError();
      return lloyd::Status::error(
          lloyd::StatusCode::unavailable,
          "no CUDA device can be used: the NVIDIA driver is missing, or older than this plugin's "
          "CUDA runtime needs");
    }
    check(error, "counting the devices");
    if (count == 0) {
      return lloyd::Status::error(lloyd::StatusCode::unavailable, "there is no CUDA device");
    }
    devices->count = std::min(count, 16);
    for (int i = 0; i < devices->count; ++i) {
      cudaDeviceProp properties{};
      check(cudaGetDeviceProperties(&properties, i), "reading the properties of a device");
      lloyd::DeviceInfo& device = devices->devices[i];
      device = {};
      device.index = i;
      device.kind = lloyd::DeviceKind::gpu;
      device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
      std::string_view(properties.name).copy(device.name, sizeof(device.name) - 1);
    }
    return {};
  }

  // Refuses a device that does not exist. StepBackend calls it before a plan and before each fit.
  static lloyd::Status supports(const lloyd::ProblemShape&, const lloyd::ParameterList& parameters,
                                const lloyd::FitSpec&) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "counting the devices");
    const std::int64_t device = parameters.integer("device");
    if (device < count) return {};
    return lloyd::Status::error(lloyd::StatusCode::unsupported,
                                "device is " + std::to_string(device) + ", but there are only " +
                                    std::to_string(count) + " devices, counted from 0");
  }

  // Memory of the step; StepBackend adds that of the loop on the host.
  static std::int64_t estimate_bytes(const lloyd::ProblemShape& shape,
                                     const lloyd::ParameterList&) {
    return capped(sizeof(std::int32_t) * static_cast<double>(shape.samples));
  }
  static std::int64_t estimate_device_bytes(const lloyd::ProblemShape& shape,
                                            const lloyd::ParameterList&) {
    const auto n = static_cast<double>(shape.samples);
    const auto d = static_cast<double>(shape.features);
    const auto k = static_cast<double>(shape.clusters);
    return capped(n * d * sizeof(T) + n * sizeof(std::int32_t) + k * d * sizeof(double));
  }

  void begin_pass(const double* centroids, std::int64_t clusters, const lloyd::StepPassOptions&) {
    const DeviceScope scope(device_);
    if (clusters != clusters_) {
      clusters_ = 0;  // consistent if the allocation throws
      centroids_ = DeviceArray<double>();
      centroids_ = DeviceArray<double>(clusters * features_);
      clusters_ = clusters;
    }
    check(cudaMemcpy(centroids_.data(), centroids,
                     static_cast<std::size_t>(clusters * features_) * sizeof(double),
                     cudaMemcpyHostToDevice),
          "copying the centroids");
    labelled_ = false;
  }

  // The first call of a pass labels the rows on the device; then the blocks are handed out.
  template <class Body>
  void for_each_block(lloyd::RowRange rows, Body&& body) {
    if (!labelled_ && !label_rows(rows, body)) return;
    labelled_ = true;
    lloyd::StepBase::for_each_block(rows, body);
  }

  std::int64_t assign(lloyd::RowRange block, std::int32_t* labels) const {
    std::int64_t changed = 0;
    for (std::int64_t i = block.begin; i < block.end; ++i, ++labels) {
      const std::int32_t label = host_labels_[static_cast<std::size_t>(i)];
      changed += label != *labels;
      *labels = label;
    }
    return changed;
  }

 private:
  // Labels the rows in batches that are short enough to wait for after Ctrl-C. Returns false if the
  // body requests cancellation.
  template <class Body>
  bool label_rows(lloyd::RowRange rows, Body&& body) {
    constexpr std::int64_t kMaxDifferences = std::int64_t{1} << 34;  // about 0.1 s
    const std::int64_t batch = std::clamp<std::int64_t>(kMaxDifferences / (clusters_ * features_),
                                                        1024, std::int64_t{1} << 24);
    const DeviceScope scope(device_);
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += batch) {
      if (!body(0, lloyd::RowRange{begin, begin})) return false;  // an empty block: only polls
      const std::int64_t count = std::min(batch, rows.end - begin);
      const auto blocks = static_cast<unsigned>((count + block_size_ - 1) / block_size_);
      label_kernel<<<blocks, static_cast<unsigned>(block_size_)>>>(
          samples_.data() + begin * features_, count, features_, centroids_.data(), clusters_,
          labels_.data() + begin);
      check(cudaGetLastError(), "launching label_kernel");
      check(cudaMemcpy(host_labels_.data() + begin, labels_.data() + begin,
                       static_cast<std::size_t>(count) * sizeof(std::int32_t),
                       cudaMemcpyDeviceToHost),
            "copying the labels");  // waits for the kernel
    }
    return true;
  }

  std::int64_t rows_;
  std::int64_t features_;
  int device_;
  int block_size_;
  std::vector<std::int32_t> host_labels_;
  DeviceArray<T> samples_;            // rows x features, without gaps
  DeviceArray<std::int32_t> labels_;  // rows
  DeviceArray<double> centroids_;     // clusters x features
  std::int64_t clusters_ = 0;
  bool labelled_ = false;  // host_labels_ are of the last begin_pass()
};

}  // namespace

LLOYD_EXPORT_PLUGIN(lloyd::StepBackend<CudaStep, kInfo>);

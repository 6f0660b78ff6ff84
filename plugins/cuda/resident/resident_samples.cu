#include "cuda/resident/resident_samples.hpp"

#include <algorithm>

#include "cuda/device/check.hpp"
#include "cuda/rows/device_rows.hpp"
#include "cuda/rows/row_copies.hpp"

namespace lloyd_cuda {
namespace {

// Values per staging buffer for the transposition; small, so that peak memory is about the size of
// the data set.
constexpr std::int64_t kStagingValues = std::int64_t{1} << 22;
constexpr int kTile = 32;
constexpr int kTileRows = 8;

// Transposes tiles of 32 x 32 through shared memory, so that both reads and writes are coalesced.
template <class T>
__global__ void transpose_kernel(const T* from, std::int64_t stride, std::int64_t rows,
                                 std::int64_t features, T* to, std::int64_t to_rows) {
  __shared__ T tile[kTile][kTile + 1];
  const std::int64_t feature_tiles = (features + kTile - 1) / kTile;
  const std::int64_t tiles = feature_tiles * ((rows + kTile - 1) / kTile);
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t row = t / feature_tiles * kTile;
    const std::int64_t feature = t % feature_tiles * kTile;
    for (int r = threadIdx.y; r < kTile; r += kTileRows) {
      if (row + r < rows && feature + threadIdx.x < features) {
        tile[r][threadIdx.x] = from[(row + r) * stride + feature + threadIdx.x];
      }
    }
    __syncthreads();
    for (int f = threadIdx.y; f < kTile; f += kTileRows) {
      if (feature + f < features && row + threadIdx.x < rows) {
        to[(feature + f) * to_rows + row + threadIdx.x] = tile[threadIdx.x][f];
      }
    }
    __syncthreads();
  }
}

// Copies rows of a view to device memory, row-major and densely packed.
template <class T>
void copy_rows(const lloyd::DatasetView& dataset, std::int64_t begin, std::int64_t rows, T* to,
               cudaStream_t stream) {
  const T* from = static_cast<const T*>(dataset.data) + begin * dataset.stride;
  const auto packed = static_cast<std::size_t>(dataset.features) * sizeof(T);
  const auto height = static_cast<std::size_t>(rows);
  if (dataset.stride == dataset.features) {
    check(cudaMemcpyAsync(to, from, packed * height, cudaMemcpyHostToDevice, stream),
          "copying the samples");
  } else {
    check(cudaMemcpy2DAsync(to, packed, from, static_cast<std::size_t>(dataset.stride) * sizeof(T),
                            packed, height, cudaMemcpyHostToDevice, stream),
          "copying the samples");
  }
}

}  // namespace

template <class T>
void enqueue_transposition(const T* from, std::int64_t stride, std::int64_t rows,
                           std::int64_t features, T* to, std::int64_t to_rows,
                           cudaStream_t stream) {
  const std::int64_t tiles = ((features + kTile - 1) / kTile) * ((rows + kTile - 1) / kTile);
  const auto blocks = static_cast<int>(std::min<std::int64_t>(tiles, 4096));
  transpose_kernel<T>
      <<<blocks, dim3(kTile, kTileRows), 0, stream>>>(from, stride, rows, features, to, to_rows);
  check_launch("transpose_kernel");
}

template <class T>
ResidentSamples<T>::ResidentSamples(const lloyd::DatasetView& dataset, Layout layout,
                                    cudaStream_t stream, std::int64_t row_alignment) {
  if (can_be_read_in_place(dataset, layout, row_alignment)) {
    samples_ = samples_in_place<T>(dataset);
    return;
  }
  const std::int64_t n = dataset.samples;
  const std::int64_t d = dataset.features;
  values_.resize(n * d);
  samples_ = {values_.data(), 0, d, 1, d};
  if (layout == Layout::soa && d > 1) {
    samples_.row_stride = 1;
    samples_.feature_stride = n;
  }
  if (is_on_device(dataset)) {
    copy_on_device(dataset, layout, stream);
  } else {
    copy_from_host(dataset, layout, stream);
  }
  check(cudaStreamSynchronize(stream), "copying the samples");
}

template <class T>
void ResidentSamples<T>::copy_on_device(const lloyd::DatasetView& dataset, Layout layout,
                                        cudaStream_t stream) {
  const T* const from = static_cast<const T*>(dataset.data);
  const std::int64_t n = dataset.samples;
  const std::int64_t d = dataset.features;
  if (layout == Layout::aos || d == 1) {
    enqueue_packing(from, dataset.stride, n, d, values_.data(), stream);
  } else {
    enqueue_transposition(from, dataset.stride, n, d, values_.data(), n, stream);
  }
}

template <class T>
void ResidentSamples<T>::copy_from_host(const lloyd::DatasetView& dataset, Layout layout,
                                        cudaStream_t stream) {
  const std::int64_t n = dataset.samples;
  const std::int64_t d = dataset.features;
  if (layout == Layout::aos || d == 1) {
    copy_rows(dataset, 0, n, values_.data(), stream);
    return;
  }
  const std::int64_t rows = std::clamp<std::int64_t>(kStagingValues / d, 1, n);
  const DeviceBuffer<T> staging(rows * d);
  for (std::int64_t begin = 0; begin < n; begin += rows) {
    const std::int64_t part = std::min(rows, n - begin);
    copy_rows(dataset, begin, part, staging.data(), stream);
    enqueue_transposition(staging.data(), d, part, d, values_.data() + begin, n, stream);
  }
  // The staging memory must not be freed before the copies have finished.
  check(cudaStreamSynchronize(stream), "copying the samples");
}

template void enqueue_transposition(const float*, std::int64_t, std::int64_t, std::int64_t, float*,
                                    std::int64_t, cudaStream_t);
template void enqueue_transposition(const double*, std::int64_t, std::int64_t, std::int64_t,
                                    double*, std::int64_t, cudaStream_t);
template class ResidentSamples<float>;
template class ResidentSamples<double>;

}  // namespace lloyd_cuda

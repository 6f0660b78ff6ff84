// Clusters samples in device memory, such as an array of CuPy or PyTorch.
#include <cstdio>
#include <vector>

#include <lloyd/data/blobs.hpp>
#include <lloyd/kmeans.hpp>
#include <lloyd/plugin/abi/communicator.hpp>
#include <lloyd/plugin/abi/device_passes.hpp>

lloyd::Fit fit_device_array(const float* values, std::int64_t n, std::int64_t d, std::int64_t k,
                            std::int32_t device, void* stream) {
  return lloyd::kmeans(lloyd::DeviceMatrix::view(values, n, d, d, device, stream), k);
}

// Labels and centroids stay on the device: k x d, n and k values there.
void fit_to_device_arrays(const lloyd::DeviceMatrix& samples, std::int64_t k,
                          const lloyd::DeviceArrays& arrays) {
  const auto backend =
      lloyd::load_backend({.required_capabilities = lloyd::kCapabilityDeviceMemory});
  const lloyd::Dataset dataset("samples", samples, backend);
  lloyd::BackendSession session(backend, dataset, backend->default_parameters());
  session.copy_results(lloyd::fit(session, {.clusters = k}), arrays);
}

// Runs one pass on each rank and reduces the changes. `changes` holds the sums
// (`sums_size` = limbs x k x d), then the k counts, and is zero before the call. Work enqueued on
// `stream` afterwards sees the totals.
lloyd::Status run_pass_on_all_ranks(lloyd::DevicePasses& passes, lloyd::Communicator& ranks,
                                    const double* centroids, std::int64_t* changes,
                                    std::int64_t sums_size, std::int64_t k, std::int32_t device,
                                    void* stream) {
  lloyd::DevicePassRequest request;
  request.centroids = centroids;
  request.sums = changes;
  request.counts = changes + sums_size;
  request.stream = stream;
  lloyd::DevicePassResult result;
  const lloyd::Status status = passes.pass(request, nullptr, result);
  if (!status.ok()) {
    ranks.abort(status.message);  // the other ranks wait in the all-reduce
    return status;
  }
  lloyd::ReduceRequest total;
  total.data = changes;
  total.count = sums_size + k;
  total.memory_space = lloyd::MemorySpace::device;
  total.device = device;
  total.stream = stream;
  return ranks.all_reduce(total);
}

int main() {
  try {
    const auto backend =
        lloyd::load_backend({.required_capabilities = lloyd::kCapabilityDeviceMemory});
    // A program of your own has its samples on the device already.
    auto* const memory =
        static_cast<lloyd::DeviceMemory*>(backend->backend().query(lloyd::kDeviceMemory));
    const lloyd::Dataset points = lloyd::make_blobs({.samples = 10000, .features = 4});
    const std::int64_t bytes = 10000 * 4 * sizeof(float);
    void* values = nullptr;
    memory->allocate(0, bytes, &values);
    memory->upload(0, nullptr, points.matrix().data, bytes, values);
    void* labels = nullptr;
    memory->allocate(0, 10000 * sizeof(std::int32_t), &labels);
    const auto* const samples = static_cast<const float*>(values);
    lloyd::DeviceArrays arrays;
    arrays.labels = static_cast<std::int32_t*>(labels);
    fit_to_device_arrays(lloyd::DeviceMatrix::view(samples, 10000, 4), 8, arrays);
    const lloyd::Fit fit = fit_device_array(samples, 10000, 4, 8, 0, nullptr);
    std::printf("%s: inertia %.0f\n", fit.backend.c_str(), fit.inertia);
    memory->deallocate(0, labels);
    memory->deallocate(0, values);
  } catch (const lloyd::Error& error) {
    std::printf("%s\n", error.what());  // without a GPU
  }
}

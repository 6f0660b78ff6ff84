// What the GPU tests share: backends, large data made quickly, and one exact iteration to compare
// with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::gpu_tests {

/// The plugins beside the program.
Registry& registry();
/// Names of the CUDA backends found, which must not be none.
std::vector<std::string> cuda_backends();
/// A backend's name as GoogleTest takes it.
std::string test_name(const testing::TestParamInfo<std::string>& backend);
/// A backend that must be available; throws std::runtime_error where it is not.
std::shared_ptr<const LoadedBackend> backend(const std::string& name);

/// Calls body(begin, end) for parts of [0, n) on all processors.
void in_parallel(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body);

/// n x d float32 values about `centers` centres in +-10, with a spread of 1.
Dataset clouds(std::int64_t n, std::int64_t d, std::int64_t centers, std::uint64_t seed);

/// Runs one iteration from the first k samples and checks, on the CPU, that every centroid is the
/// mean of the samples that label() gives it, bit for bit, that counts are those of the labels, and
/// that the labels of some samples from all over the data set are nearest to float32 accuracy.
/// Failures are GoogleTest's.
void check_one_iteration(OpenSession& session, std::int64_t clusters);

/// How many labels differ from the definition.
std::int64_t wrong_labels(const Dataset& dataset, const std::vector<double>& centroids,
                          std::int64_t clusters, const std::vector<std::int32_t>& labels);

}  // namespace lloyd::gpu_tests

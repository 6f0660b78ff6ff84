// Shared by the GPU tests: backends, large data that is generated quickly, and a check of one
// iteration.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <lloyd/dataset.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/registry.hpp>

namespace lloyd::gpu_tests {

/// The program's folder.
std::filesystem::path plugin_folder();
/// The plugins in the program's folder.
Registry& registry();
/// Names of the CUDA backends; there must be at least one.
std::vector<std::string> cuda_backends();
/// A backend's name in the form that GoogleTest accepts.
std::string test_name(const testing::TestParamInfo<std::string>& backend);
/// A backend that must be available; throws std::runtime_error if it is not.
std::shared_ptr<const LoadedBackend> backend(const std::string& name);

/// Calls body(begin, end) for disjoint parts of [0, n) on all processors.
void in_parallel(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body);

/// n x d float32 values around `centers` centers in [-10, 10]^d, with a standard deviation of about
/// 1.
Dataset clouds(std::int64_t n, std::int64_t d, std::int64_t centers, std::uint64_t seed);

/// Runs one iteration from the first k samples. Checks on the CPU that every centroid is bit for
/// bit the mean of its samples by label(), that the counts match the labels, and that the labels of
/// samples spread over the data set are nearest to float32 accuracy. Reports failures to
/// GoogleTest.
void check_one_iteration(BackendSession& session, std::int64_t clusters);

/// The number of labels that differ from the definition.
std::int64_t wrong_labels(const Dataset& dataset, const std::vector<double>& centroids,
                          std::int64_t clusters, const std::vector<std::int32_t>& labels);

}  // namespace lloyd::gpu_tests

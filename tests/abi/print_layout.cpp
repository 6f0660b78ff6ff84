// Prints the layout of everything that crosses the plugin boundary: sizes, offsets, vtable slots,
// and constants. tests/abi/ holds the output for each version of the boundary.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/communicator_plugin.hpp>
#include <lloyd/plugin/abi/device_cache.hpp>
#include <lloyd/plugin/abi/device_memory.hpp>
#include <lloyd/plugin/abi/device_passes.hpp>
#include <lloyd/plugin/abi/pass_kernels.hpp>
#include <lloyd/plugin/abi/resident_seeding.hpp>
#include <lloyd/plugin/abi/seeding_kernels.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>
#include <lloyd/plugin/abi/windowed_passes.hpp>

#include "print_values.hpp"

namespace {

// In the Itanium C++ ABI a pointer to a virtual member function is its offset in the vtable plus 1.
template <class Method>
long slot(Method method) {
  std::ptrdiff_t word = 0;
  std::memcpy(&word, &method, sizeof(word));
  return (word - 1) / static_cast<long>(sizeof(void*));
}

}  // namespace

#define STRUCT(type) std::printf("%s %zu\n", #type, sizeof(lloyd::type))
#define FIELD(type, field) std::printf("  %s %zu\n", #field, offsetof(lloyd::type, field))
#define METHOD(type, method) std::printf("  %s slot %ld\n", #method, slot(&lloyd::type::method))

int main() {
  std::printf("version %u.%u\n", lloyd::kAbiMajor, lloyd::kAbiMinor);
  STRUCT(PluginHeader);
  FIELD(PluginHeader, magic);
  FIELD(PluginHeader, header_size);
  FIELD(PluginHeader, abi_major);
  FIELD(PluginHeader, abi_minor);
  FIELD(PluginHeader, abi_tag);
  FIELD(PluginHeader, name);
  FIELD(PluginHeader, version);
  STRUCT(PluginDescriptor);
  FIELD(PluginDescriptor, header);
  FIELD(PluginDescriptor, probe);
  FIELD(PluginDescriptor, create);
  STRUCT(Status);
  FIELD(Status, code);
  FIELD(Status, message);
  STRUCT(FeatureStatistics);
  FIELD(FeatureStatistics, minimum);
  FIELD(FeatureStatistics, maximum);
  FIELD(FeatureStatistics, mean);
  FIELD(FeatureStatistics, variance);
  FIELD(FeatureStatistics, quantum_exponent);
  STRUCT(DatasetView);
  FIELD(DatasetView, struct_size);
  FIELD(DatasetView, required_capabilities);
  FIELD(DatasetView, data);
  FIELD(DatasetView, samples);
  FIELD(DatasetView, features);
  FIELD(DatasetView, stride);
  FIELD(DatasetView, dtype);
  FIELD(DatasetView, memory_space);
  FIELD(DatasetView, device);
  FIELD(DatasetView, stream);
  FIELD(DatasetView, weights);
  FIELD(DatasetView, statistics);
  FIELD(DatasetView, total_samples);
  STRUCT(RowRange);
  FIELD(RowRange, begin);
  FIELD(RowRange, end);
  STRUCT(ProblemShape);
  FIELD(ProblemShape, struct_size);
  FIELD(ProblemShape, samples);
  FIELD(ProblemShape, features);
  FIELD(ProblemShape, stride);
  FIELD(ProblemShape, clusters);
  FIELD(ProblemShape, dtype);
  STRUCT(FitSpec);
  FIELD(FitSpec, struct_size);
  FIELD(FitSpec, required_capabilities);
  FIELD(FitSpec, clusters);
  FIELD(FitSpec, initial_centroids);
  FIELD(FitSpec, max_iterations);
  FIELD(FitSpec, tolerance);
  FIELD(FitSpec, stop_rule);
  FIELD(FitSpec, empty_clusters);
  FIELD(FitSpec, observe);
  FIELD(FitSpec, profile);
  STRUCT(PhaseTimes);
  FIELD(PhaseTimes, transfer_ms);
  FIELD(PhaseTimes, assignment_ms);
  FIELD(PhaseTimes, update_ms);
  FIELD(PhaseTimes, convergence_ms);
  STRUCT(FitResult);
  FIELD(FitResult, struct_size);
  FIELD(FitResult, centroids);
  FIELD(FitResult, labels);
  FIELD(FitResult, counts);
  FIELD(FitResult, inertia);
  FIELD(FitResult, iterations);
  FIELD(FitResult, relocations);
  FIELD(FitResult, distances);
  FIELD(FitResult, exact_fallbacks);
  FIELD(FitResult, stop_reason);
  FIELD(FitResult, sum_form);
  FIELD(FitResult, valid);
  FIELD(FitResult, loop_ms);
  FIELD(FitResult, closing_ms);
  FIELD(FitResult, phases);
  STRUCT(IterationRecord);
  FIELD(IterationRecord, struct_size);
  FIELD(IterationRecord, iteration);
  FIELD(IterationRecord, changed);
  FIELD(IterationRecord, relocations);
  FIELD(IterationRecord, shift);
  FIELD(IterationRecord, inertia);
  FIELD(IterationRecord, elapsed_ms);
  FIELD(IterationRecord, labels);
  FIELD(IterationRecord, centroids);
  STRUCT(LabelRequest);
  FIELD(LabelRequest, struct_size);
  FIELD(LabelRequest, required_capabilities);
  FIELD(LabelRequest, centroids);
  FIELD(LabelRequest, clusters);
  STRUCT(LabelResult);
  FIELD(LabelResult, struct_size);
  FIELD(LabelResult, labels);
  FIELD(LabelResult, counts);
  FIELD(LabelResult, squared_distances);
  FIELD(LabelResult, inertia);
  FIELD(LabelResult, label_ms);
  FIELD(LabelResult, valid);
  STRUCT(SumWords);
  FIELD(SumWords, low);
  FIELD(SumWords, high);
  STRUCT(FarSample);
  FIELD(FarSample, row);
  FIELD(FarSample, squared_distance);
  FIELD(FarSample, label);
  STRUCT(ExactSum);
  FIELD(ExactSum, chunks);
  FIELD(ExactSum, adds_since_carry);
  STRUCT(PartialRequest);
  FIELD(PartialRequest, struct_size);
  FIELD(PartialRequest, required_capabilities);
  FIELD(PartialRequest, centroids);
  FIELD(PartialRequest, clusters);
  FIELD(PartialRequest, rows);
  FIELD(PartialRequest, farthest_wanted);
  STRUCT(PartialResult);
  FIELD(PartialResult, struct_size);
  FIELD(PartialResult, labels);
  FIELD(PartialResult, sums);
  FIELD(PartialResult, counts);
  FIELD(PartialResult, inertia);
  FIELD(PartialResult, farthest);
  FIELD(PartialResult, farthest_count);
  FIELD(PartialResult, changed);
  FIELD(PartialResult, sum_form);
  STRUCT(ParameterInfo);
  FIELD(ParameterInfo, struct_size);
  FIELD(ParameterInfo, name);
  FIELD(ParameterInfo, meaning);
  FIELD(ParameterInfo, type);
  FIELD(ParameterInfo, choice_count);
  FIELD(ParameterInfo, integer_default);
  FIELD(ParameterInfo, integer_minimum);
  FIELD(ParameterInfo, integer_maximum);
  FIELD(ParameterInfo, number_default);
  FIELD(ParameterInfo, number_minimum);
  FIELD(ParameterInfo, number_maximum);
  FIELD(ParameterInfo, choices);
  STRUCT(ParameterValue);
  FIELD(ParameterValue, name);
  FIELD(ParameterValue, type);
  FIELD(ParameterValue, integer);
  FIELD(ParameterValue, number);
  FIELD(ParameterValue, text);
  STRUCT(ParameterList);
  FIELD(ParameterList, struct_size);
  FIELD(ParameterList, values);
  FIELD(ParameterList, count);
  STRUCT(DeviceInfo);
  FIELD(DeviceInfo, index);
  FIELD(DeviceInfo, kind);
  FIELD(DeviceInfo, memory_bytes);
  FIELD(DeviceInfo, name);
  STRUCT(DeviceList);
  FIELD(DeviceList, struct_size);
  FIELD(DeviceList, count);
  FIELD(DeviceList, devices);
  STRUCT(BackendInfo);
  FIELD(BackendInfo, struct_size);
  FIELD(BackendInfo, summary);
  FIELD(BackendInfo, algorithm);
  FIELD(BackendInfo, capabilities);
  FIELD(BackendInfo, accuracy);
  FIELD(BackendInfo, accuracy_float64);
  FIELD(BackendInfo, reproducibility);
  FIELD(BackendInfo, reproducibility_float64);
  FIELD(BackendInfo, preference);
  FIELD(BackendInfo, reproducibility_reason);
  FIELD(BackendInfo, parameters);
  FIELD(BackendInfo, parameter_count);
  STRUCT(MemoryEstimate);
  FIELD(MemoryEstimate, struct_size);
  FIELD(MemoryEstimate, host_bytes);
  FIELD(MemoryEstimate, device_bytes);
  std::printf("Observer\n");
  METHOD(Observer, on_iteration);
  METHOD(Observer, stop_requested);
  METHOD(Observer, query);
  std::printf("Session\n");
  METHOD(Session, fit);
  METHOD(Session, label);
  METHOD(Session, partial);
  METHOD(Session, query);
  METHOD(Session, release);
  std::printf("Backend\n");
  METHOD(Backend, info);
  METHOD(Backend, supports);
  METHOD(Backend, estimate);
  METHOD(Backend, open);
  METHOD(Backend, query);
  METHOD(Backend, release);
  // Interfaces that have their own versions.
  std::printf("%s\n", lloyd::kSeedingKernels);
  STRUCT(WeightScale);
  FIELD(WeightScale, first);
  FIELD(WeightScale, second);
  STRUCT(NearestRequest);
  FIELD(NearestRequest, struct_size);
  FIELD(NearestRequest, centroids);
  FIELD(NearestRequest, count);
  FIELD(NearestRequest, first_index);
  FIELD(NearestRequest, squared_distances);
  FIELD(NearestRequest, nearest);
  STRUCT(GainsRequest);
  FIELD(GainsRequest, struct_size);
  FIELD(GainsRequest, candidates);
  FIELD(GainsRequest, count);
  FIELD(GainsRequest, squared_distances);
  FIELD(GainsRequest, scale);
  FIELD(GainsRequest, gains);
  std::printf("SeedingKernels\n");
  METHOD(SeedingKernels, nearest);
  METHOD(SeedingKernels, gains);
  std::printf("%s\n", lloyd::kResidentSeeding);
  std::printf("ResidentSeeding\n");
  METHOD(ResidentSeeding, begin_seeding);
  METHOD(ResidentSeeding, add);
  METHOD(ResidentSeeding, weigh);
  METHOD(ResidentSeeding, find);
  METHOD(ResidentSeeding, rate);
  METHOD(ResidentSeeding, end_seeding);
  std::printf("%s\n", lloyd::kPassKernels);
  STRUCT(SumLimbs);
  FIELD(SumLimbs, count);
  FIELD(SumLimbs, bits);
  STRUCT(PassOptions);
  FIELD(PassOptions, struct_size);
  FIELD(PassOptions, clusters);
  FIELD(PassOptions, limbs);
  STRUCT(PassRequest);
  FIELD(PassRequest, struct_size);
  FIELD(PassRequest, centroids);
  FIELD(PassRequest, sums);
  FIELD(PassRequest, counts);
  FIELD(PassRequest, inertia);
  STRUCT(PassResult);
  FIELD(PassResult, struct_size);
  FIELD(PassResult, changed);
  FIELD(PassResult, distances);
  FIELD(PassResult, exact_fallbacks);
  std::printf("PassKernels\n");
  METHOD(PassKernels, begin);
  METHOD(PassKernels, pass);
  METHOD(PassKernels, farthest);
  METHOD(PassKernels, labels);
  METHOD(PassKernels, end);
  std::printf("%s\n", lloyd::kDevicePasses);
  STRUCT(DevicePassRequest);
  FIELD(DevicePassRequest, struct_size);
  FIELD(DevicePassRequest, centroids);
  FIELD(DevicePassRequest, sums);
  FIELD(DevicePassRequest, counts);
  FIELD(DevicePassRequest, changed);
  FIELD(DevicePassRequest, inertia);
  FIELD(DevicePassRequest, stream);
  STRUCT(DevicePassResult);
  FIELD(DevicePassResult, struct_size);
  FIELD(DevicePassResult, distances);
  std::printf("DevicePasses\n");
  METHOD(DevicePasses, pass);
  std::printf("%s\n", lloyd::kWindowedPasses);
  std::printf("RowWindows\n");
  METHOD(RowWindows, next);
  METHOD(RowWindows, load);
  std::printf("WindowedPasses\n");
  METHOD(WindowedPasses, begin);
  METHOD(WindowedPasses, pass);
  METHOD(WindowedPasses, farthest);
  METHOD(WindowedPasses, labels);
  METHOD(WindowedPasses, end);
  std::printf("%s\n", lloyd::kSessionNotes);
  std::printf("SessionNotes\n");
  METHOD(SessionNotes, notes);
  std::printf("%s\n", lloyd::kDeviceCache);
  std::printf("DeviceCache\n");
  METHOD(DeviceCache, evict);
  std::printf("%s\n", lloyd::kDeviceMemory);
  STRUCT(RowsDescription);
  FIELD(RowsDescription, struct_size);
  FIELD(RowsDescription, statistics);
  FIELD(RowsDescription, hash);
  FIELD(RowsDescription, invalid_row);
  FIELD(RowsDescription, invalid_feature);
  std::printf("DeviceMemory\n");
  METHOD(DeviceMemory, allocate);
  METHOD(DeviceMemory, deallocate);
  METHOD(DeviceMemory, upload);
  METHOD(DeviceMemory, download);
  METHOD(DeviceMemory, describe);
  METHOD(DeviceMemory, copy_rows);
  std::printf("%s\n", lloyd::kDeviceResults);
  STRUCT(DeviceArrays);
  FIELD(DeviceArrays, struct_size);
  FIELD(DeviceArrays, centroids);
  FIELD(DeviceArrays, labels);
  FIELD(DeviceArrays, counts);
  FIELD(DeviceArrays, stream);
  std::printf("DeviceResults\n");
  METHOD(DeviceResults, copy_results);
  STRUCT(CommunicatorHeader);
  FIELD(CommunicatorHeader, plugin);
  FIELD(CommunicatorHeader, size_variables);
  STRUCT(CommunicatorDescriptor);
  FIELD(CommunicatorDescriptor, header);
  FIELD(CommunicatorDescriptor, join);
  STRUCT(ReduceRequest);
  FIELD(ReduceRequest, struct_size);
  FIELD(ReduceRequest, data);
  FIELD(ReduceRequest, count);
  FIELD(ReduceRequest, type);
  FIELD(ReduceRequest, op);
  FIELD(ReduceRequest, memory_space);
  FIELD(ReduceRequest, device);
  FIELD(ReduceRequest, stream);
  std::printf("Communicator\n");
  METHOD(Communicator, rank);
  METHOD(Communicator, size);
  METHOD(Communicator, all_reduce);
  METHOD(Communicator, broadcast);
  METHOD(Communicator, all_gather);
  METHOD(Communicator, barrier);
  METHOD(Communicator, set_timeout);
  METHOD(Communicator, progress);
  METHOD(Communicator, abort);
  METHOD(Communicator, reports_failure);
  METHOD(Communicator, query);
  METHOD(Communicator, release);
  print_values();
}

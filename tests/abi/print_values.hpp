// Prints the enumerators, bit constants and strings that cross the plugin boundary.
#pragma once

#include <cstdint>
#include <cstdio>

#include <lloyd/plugin/abi/abi.hpp>
#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/abi/communicator_plugin.hpp>

#define VALUE(name) std::printf("  %s %lld\n", #name, static_cast<long long>(lloyd::name))

inline void print_values() {
  std::printf("texts\n  section %s\n  symbol %s\n", LLOYD_PLUGIN_SECTION, LLOYD_PLUGIN_SYMBOL);
  std::printf("  communicator_section %s\n  communicator_symbol %s\n", LLOYD_COMMUNICATOR_SECTION,
              LLOYD_COMMUNICATOR_SYMBOL);
  std::printf("  magic");
  for (const char byte : lloyd::kPluginMagic) std::printf(" %02x", static_cast<unsigned>(byte));
  std::printf("\nvalues\n");
  VALUE(StatusCode::ok);
  VALUE(StatusCode::cancelled);
  VALUE(StatusCode::invalid_argument);
  VALUE(StatusCode::unsupported);
  VALUE(StatusCode::unavailable);
  VALUE(StatusCode::out_of_memory);
  VALUE(StatusCode::empty_cluster);
  VALUE(StatusCode::device_error);
  VALUE(StatusCode::internal);
  VALUE(DType::float32);
  VALUE(DType::float64);
  VALUE(MemorySpace::host);
  VALUE(MemorySpace::device);
  VALUE(DeviceKind::cpu);
  VALUE(DeviceKind::gpu);
  VALUE(Accuracy::exact);
  VALUE(Accuracy::float32);
  VALUE(Accuracy::tf32);
  VALUE(Accuracy::half);
  VALUE(Reproducibility::canonical);
  VALUE(Reproducibility::threads);
  VALUE(Reproducibility::run);
  VALUE(Reproducibility::none);
  VALUE(EmptyClusters::relocate);
  VALUE(EmptyClusters::keep);
  VALUE(EmptyClusters::error);
  VALUE(StopRule::converge);
  VALUE(StopRule::fixed);
  VALUE(StopReason::none);
  VALUE(StopReason::labels);
  VALUE(StopReason::tolerance);
  VALUE(StopReason::max_iterations);
  VALUE(StopReason::cancelled);
  VALUE(SumForm::integer64);
  VALUE(SumForm::integer128);
  VALUE(SumForm::compensated);
  VALUE(ParameterType::integer);
  VALUE(ParameterType::number);
  VALUE(ParameterType::boolean);
  VALUE(ParameterType::choice);
  VALUE(ElementType::int64);
  VALUE(ElementType::float64);
  VALUE(ReduceOp::sum);
  VALUE(ReduceOp::min);
  VALUE(ReduceOp::max);
  VALUE(kCapabilityFloat32);
  VALUE(kCapabilityFloat64);
  VALUE(kCapabilityStrided);
  VALUE(kCapabilityHostMemory);
  VALUE(kCapabilityDeviceMemory);
  VALUE(kCapabilityWeights);
  VALUE(kCapabilityMetric);
  VALUE(kCapabilityRowWindows);
  VALUE(kObserveIterations);
  VALUE(kObserveInertia);
  VALUE(kObserveLabels);
  VALUE(kObserveCentroids);
  VALUE(kValidCentroids);
  VALUE(kValidLabels);
  VALUE(kValidCounts);
  VALUE(kValidInertia);
}

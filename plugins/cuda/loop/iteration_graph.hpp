// IterationGraph: a CUDA graph of some iterations of a fit.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/device/check.hpp"
#include "cuda/passes/pass.hpp"

namespace lloyd_cuda {

/// A linear graph of kernels: the gap between kernels is 1 us (H100), a third of that of separate
/// launches. The kernels return immediately once the fit has halted, so that the host may launch
/// more iterations than the fit needs.
class IterationGraph {
 public:
  IterationGraph() = default;
  ~IterationGraph() { reset(); }
  IterationGraph(const IterationGraph&) = delete;
  IterationGraph& operator=(const IterationGraph&) = delete;

  /// True if the graph was recorded with these arguments.
  bool matches(const IterationArguments& arguments) const {
    return graph_ != nullptr && arguments_ == arguments;
  }
  /// Records the work that enqueue() submits to the stream, without running it, and replaces the
  /// graph with it. enqueue() may neither wait nor allocate. Throws StatusError.
  template <class Enqueue>
  void record(const IterationArguments& arguments, cudaStream_t stream, Enqueue&& enqueue) {
    reset();
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    cudaGraph_t recorded = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &recorded);
      cudaGetLastError();
      if (recorded != nullptr) cudaGraphDestroy(recorded);
      throw;
    }
    check(cudaStreamEndCapture(stream, &recorded), "recording a graph");
    const cudaError_t error = cudaGraphInstantiate(&graph_, recorded, 0);
    cudaGraphDestroy(recorded);
    if (error != cudaSuccess) graph_ = nullptr;
    check(error, "instantiating a graph");
    arguments_ = arguments;
  }
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(graph_, stream), "launching a graph");
  }
  /// Removes the graph, which must not be running.
  void reset() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
  IterationArguments arguments_;
};

}  // namespace lloyd_cuda

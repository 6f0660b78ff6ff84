#include "conformance/context.hpp"

#include <lloyd/plugin/fit.hpp>

namespace lloyd::conformance {

std::string Context::beyond(const Dataset& dataset, std::int64_t clusters,
                            const ParameterSet& parameters) const {
  const DatasetView view = dataset.view();
  const std::uint64_t missing = view.required_features & ~info().features;
  if (missing != 0) return fmt::format("the backend lacks the feature bits {:#x}", missing);
  ProblemShape shape;
  shape.samples = view.samples;
  shape.features = view.features;
  shape.stride = view.stride;
  shape.clusters = clusters;
  shape.dtype = view.dtype;
  FitSpec spec;
  spec.clusters = clusters;
  spec.max_iterations = 1;
  const Status status = backend().supports(shape, parameters.list(), spec);
  return status.ok() ? "" : fmt::format("the backend does not support it: {}", status.message);
}

OwnedSession Context::open(const Dataset& dataset, std::int64_t clusters) const {
  const std::string reason = beyond(dataset, clusters);
  if (!reason.empty()) throw CaseSkipped{reason};
  Session* session = nullptr;
  const Status status = backend().open(dataset.view(), parameters_.list(), &session);
  expect(status.ok(), "open() of n={} d={} failed: {}", dataset.samples(), dataset.features(),
         status.message);
  expect(session != nullptr, "open() reported ok and gave no session");
  return OwnedSession(session);
}

}  // namespace lloyd::conformance

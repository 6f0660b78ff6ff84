#include "conformance/support/context.hpp"

#include "conformance/support/comparisons.hpp"

namespace lloyd::conformance {

FitSpec Context::plain_spec(std::int64_t clusters) {
  FitSpec spec;
  spec.clusters = clusters;
  spec.max_iterations = 1;
  spec.empty_clusters = EmptyClusters::keep;
  return spec;
}

std::string Context::find_refusal(const Dataset& dataset, const FitSpec& spec,
                                  const ParameterSet& parameters) const {
  const DatasetView view = dataset.view();
  const std::uint64_t missing = view.required_capabilities & ~info().capabilities;
  if (missing != 0) return fmt::format("the backend lacks the capability bits {:#x}", missing);
  ProblemShape shape;
  shape.samples = view.samples;
  shape.features = view.features;
  shape.stride = view.stride;
  shape.clusters = spec.clusters;
  shape.dtype = view.dtype;
  const Status status = backend().supports(shape, parameters.list(), spec);
  if (status.ok()) return {};
  expect(is_refusal(status.code), "supports() for n={} d={} k={} failed with status '{}': {}",
         shape.samples, shape.features, spec.clusters, name_of(status.code),
         status_message(status));
  return fmt::format("the backend does not support it: {}", status_message(status));
}

namespace {

// The smallest and the largest value of a numeric parameter, as text.
std::vector<std::string> ends_of_range(const ParameterInfo& parameter) {
  switch (parameter.type) {
    case ParameterType::integer:
      return {std::to_string(parameter.integer_minimum), std::to_string(parameter.integer_maximum)};
    case ParameterType::number:
      return {fmt::format("{}", parameter.number_minimum),
              fmt::format("{}", parameter.number_maximum)};
    default:
      return {};
  }
}

}  // namespace

int for_ends_of_parameters(const Context& context,
                           const std::function<void(const Context& end)>& check) {
  int calls = 0;
  for (const ParameterInfo& parameter : context.parameters().schema()) {
    for (const std::string& value : ends_of_range(parameter)) {
      ParameterSet set = context.parameters();
      set.set(parameter.name, value);
      const VariedParameter varied(context, parameter.name, value);
      ++calls;
      try {
        check(context.with(set));
      } catch (const CaseFailed& failed) {
        fail("{}={}: {}", parameter.name, value, failed.message);
      }
    }
  }
  return calls;
}

void SamplesWatch::look(const Dataset& dataset) {
  const bool in_host_memory =
      dataset.source() == nullptr && dataset.view().memory_space == MemorySpace::host;
  if (!in_host_memory) return;
  changed_ = changed_ || dataset.compute_fingerprint() != dataset.fingerprint();
}

OwnedSession opened(const Status& status, Session* session, const std::string& what) {
  expect(status.ok(), "open() of {} failed: {}", what, status_message(status));
  expect(session != nullptr, "open() of {} reported ok and gave no session", what);
  return OwnedSession(session);
}

OwnedSession Context::open(const Dataset& dataset, const FitSpec& spec) const {
  const std::string reason = beyond(dataset, spec);
  if (!reason.empty()) throw CaseSkipped{reason};
  Session* session = nullptr;
  const Status status = backend().open(dataset.view(), parameters_.list(), &session);
  return {opened(status, session, fmt::format("n={} d={}", dataset.samples(), dataset.features())),
          dataset, watch_};
}

}  // namespace lloyd::conformance

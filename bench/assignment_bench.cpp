// Benchmarks of the assignment: Session::label(), and the assignment phase of an iteration.
#include <lloyd/internal/status_text.hpp>

#include "phases.hpp"
#include "program.hpp"

namespace lloyd::bench {
namespace {

// One call that returns labels; counts and distances are not requested, the inertia always is.
Run label(BackendSession& session, const Problem& problem) {
  const auto labels = std::make_shared<std::vector<std::int32_t>>(problem.dataset.matrix().rows);
  return [&session, &problem, labels](benchmark::State&) {
    LabelRequest request;
    request.centroids = problem.start.data();
    request.clusters = problem.clusters();
    LabelResult result;
    result.labels = labels->data();
    return seconds_of([&] {
      throw_unless_ok(session.backend().name(), session.session().label(request, nullptr, result));
    });
  };
}

void add_all(Program& program) {
  for (const Shape& shape : program.shapes()) {
    for (const Variant& variant : program.variants()) {
      program.add("label", variant, shape, program.assignment(shape), label);
      if (reported_phases(variant, program.dtype()).assignment) {
        program.add("assignment", variant, shape, program.assignment(shape),
                    phase_of_fit(&PhaseTimes::assignment_ms));
      }
    }
  }
}

}  // namespace
}  // namespace lloyd::bench

int main(int argc, char** argv) {
  return lloyd::bench::run_program(argc, argv, lloyd::bench::add_all);
}

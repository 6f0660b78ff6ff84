// Benchmarks of the update: the update phase of an iteration, and Session::partial(), which is an
// assignment with sums.
#include <lloyd/internal/status_text.hpp>

#include "phases.hpp"
#include "program.hpp"

namespace lloyd::bench {
namespace {

struct PartialOutputs {
  std::vector<std::int32_t> labels;
  std::vector<SumWords> sums;
  std::vector<std::int64_t> counts;
};

// One call over all rows that returns labels, sums and counts; inertia and far samples are not
// requested.
Run partial(BackendSession& session, const Problem& problem) {
  const auto outputs = std::make_shared<PartialOutputs>();
  outputs->labels.assign(static_cast<std::size_t>(problem.dataset.samples()), -1);
  return [&session, &problem, outputs](benchmark::State&) {
    const auto k = problem.clusters();
    PartialRequest request;
    request.centroids = problem.start.data();
    request.clusters = k;
    request.rows = {0, problem.dataset.samples()};
    outputs->sums.assign(problem.start.size(), {});
    outputs->counts.assign(static_cast<std::size_t>(k), 0);
    PartialResult result;
    result.labels = outputs->labels.data();
    result.sums = outputs->sums.data();
    result.counts = outputs->counts.data();
    return seconds_of([&] {
      throw_unless_ok(session.backend().name(),
                      session.session().partial(request, nullptr, result));
    });
  };
}

void add_all(Program& program) {
  for (const Shape& shape : program.shapes()) {
    for (const Variant& variant : program.variants()) {
      program.add("partial", variant, shape, program.assignment(shape), partial);
      if (reported_phases(variant, program.dtype()).update) {
        program.add("update", variant, shape, program.update(shape),
                    phase_of_fit(&PhaseTimes::update_ms));
      }
    }
  }
}

}  // namespace
}  // namespace lloyd::bench

int main(int argc, char** argv) {
  return lloyd::bench::run_program(argc, argv, lloyd::bench::add_all);
}

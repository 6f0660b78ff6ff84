// Experiments in YAML, up to the plan: no data is generated, and only the experiment file is read.
#include "experiment/config/config.hpp"
#include "experiment/summary/plan_text.hpp"
#include "fuzz.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd::fuzz {
namespace {

using namespace lloyd::experiment;

bool reads_files(const Experiment& experiment) {
  for (const Setting& setting : experiment.settings) {
    if (!setting.dataset.blobs || setting.options.seeding.method == SeedingMethod::file) {
      return true;
    }
  }
  return false;
}

// Limits the memory for the fits of a plan, since the reader's own limits permit more.
bool is_small(const Experiment& experiment) {
  std::size_t variants = 0;
  for (const BackendRequest& backend : experiment.backends) {
    std::size_t product = 1;
    for (const ParameterRequest& parameter : backend.parameters) product *= parameter.values.size();
    variants += product;
  }
  return experiment.settings.size() * variants <= 1000;
}

void check_plan(const Experiment& experiment) {
  DatasetCache datasets;
  Machine machine;
  machine.memory_bytes = std::int64_t{1} << 34;
  const Plan plan = make_plan(experiment, fake::load, datasets, machine);
  require(plan.fits.size() == plan.settings.size() * plan.variants.size(),
          "a plan lacks a pair of setting and variant");
  check_lines(plan_text(plan));
  plan_json(plan).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace
}  // namespace lloyd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  fuzz::expect_refusal_or([&] {
    const auto document =
        experiment::parse_config(std::string(fuzz::text_of(data, size)), "c.yaml");
    const auto experiment = experiment::read_experiment(document, "/nowhere", "c");
    if (!fuzz::reads_files(experiment) && fuzz::is_small(experiment)) fuzz::check_plan(experiment);
  });
  return 0;
}

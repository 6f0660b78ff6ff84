#include "program.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include <lloyd/error.hpp>

namespace lloyd::bench {
namespace {

DType parse_dtype(std::string_view name) {
  if (name == "float32") return DType::float32;
  if (name == "float64") return DType::float64;
  throw InputError(fmt::format("unknown dtype '{}' (known: float32, float64)", name));
}

// Removes "--NAME=VALUE" from the arguments and returns the value; empty if it is missing.
std::string_view take_option(int& argc, char** argv, std::string_view name) {
  std::string_view value;
  char** const end = std::remove_if(argv + 1, argv + argc, [&](const char* argument) {
    const std::string_view text = argument;
    const bool found = text.starts_with("--") && text.substr(2).starts_with(name) &&
                       text.substr(2 + name.size()).starts_with('=');
    if (found) value = text.substr(3 + name.size());
    return found;
  });
  argc = static_cast<int>(end - argv);
  return value;
}

void describe(const machine::Ceilings& ceilings) {
  const auto both = [](const machine::Rate& rate) {
    return fmt::format("{:.3g} / {:.3g}", rate.one_thread, rate.all_threads);
  };
  benchmark::AddCustomContext("ceilings", fmt::format("1 / {} threads", ceilings.threads));
  benchmark::AddCustomContext("FP32 FMA GFLOP/s, " + ceilings.instruction_set,
                              both(ceilings.float32_gflops));
  benchmark::AddCustomContext("FP64 FMA GFLOP/s, " + ceilings.instruction_set,
                              both(ceilings.float64_gflops));
  benchmark::AddCustomContext("memory read GB/s", both(ceilings.read_gbs));
}

}  // namespace

Program::Program(int& argc, char** argv) {
  const std::string_view shapes = take_option(argc, argv, "shapes");
  const std::string_view dtype = take_option(argc, argv, "dtype");
  if (!shapes.empty()) shapes_ = parse_shapes(shapes);
  if (!dtype.empty()) dtype_ = parse_dtype(dtype);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    throw InputError("the options are --shapes, --dtype, and those of Google Benchmark (--help)");
  }
  problems_ = Problems(dtype_);
  ceilings_ = machine::measure_ceilings();
  describe(ceilings_);
  Registry registry(Registry::default_folders());
  variants_ = variants_of(registry.load_all());
}

Work Program::assignment(const Shape& shape) const {
  const auto n = static_cast<double>(shape.samples);
  const auto d = static_cast<double>(shape.features);
  return {2 * n * d * static_cast<double>(shape.clusters),
          n * d * static_cast<double>(size_of(dtype_)) + n * sizeof(std::int32_t)};
}

Work Program::update(const Shape& shape) const {
  return {static_cast<double>(shape.samples) * static_cast<double>(shape.features),
          assignment(shape).bytes};
}

void Program::add(Row row) {
  std::string name = fmt::format("{}/{}", row.name, row.shape.name());
  if (dtype_ == DType::float64) name += "/dtype:float64";
  benchmark::RegisterBenchmark(name.c_str(),
                               [this, row = std::move(row)](benchmark::State& state) {
                                 try {
                                   measure(state, row);
                                 } catch (const std::exception& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void Program::add(const std::string& operation, const Variant& variant, const Shape& shape,
                  const Work& work, std::function<Run(BackendSession&, const Problem&)> prepare) {
  const std::string reason = unsupported(variant, shape, dtype_);
  if (!reason.empty()) {
    std::fputs(
        fmt::format("{} of {} is left out: {}\n", shape.name(), variant.name, reason).c_str(),
        stderr);
    return;
  }
  Row row{fmt::format("{}/{}", operation, variant.name),
          shape,
          work,
          variant.threads,
          variant.on_cpu,
          {}};
  row.prepare = [variant, prepare = std::move(prepare)](const Problem& problem) -> Run {
    const auto session =
        std::make_shared<BackendSession>(variant.backend, problem.dataset, variant.parameters);
    // Warm-up: threads, memory and kernels that are created on first use are not timed.
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> counts;
    const auto k = problem.clusters();
    session->label(problem.start, k, labels, counts);
    return
        [session, run = prepare(*session, problem)](benchmark::State& state) { return run(state); };
  };
  add(std::move(row));
}

void Program::measure(benchmark::State& state, const Row& row) {
  const Run run = row.prepare(problems_.at(row.shape));
  double seconds = 0;
  for (auto _ : state) {
    const double elapsed = run(state);
    state.SetIterationTime(elapsed);
    seconds += elapsed;
  }
  count(state, row, seconds / static_cast<double>(state.iterations()));
}

void Program::count(benchmark::State& state, const Row& row, double seconds) const {
  if (row.work.operations == 0) {
    state.counters["samples/s"] = static_cast<double>(row.shape.samples) / seconds;
    return;
  }
  state.counters["GFLOP/s"] = 1e-9 * row.work.operations / seconds;
  state.counters["GB/s"] = 1e-9 * row.work.bytes / seconds;
  if (!row.on_cpu) return;
  const auto of = [&row](const machine::Rate& rate) {
    return 1e9 * (row.threads == 1 ? rate.one_thread : rate.all_threads);
  };
  const double peak =
      of(dtype_ == DType::float32 ? ceilings_.float32_gflops : ceilings_.float64_gflops);
  const double bound =
      std::max(row.work.operations / peak, row.work.bytes / of(ceilings_.read_gbs));
  state.counters["ceiling"] = bound / seconds;
}

int run_program(int argc, char** argv, const std::function<void(Program&)>& add_all) {
  try {
    Program program(argc, argv);
    add_all(program);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::ClearRegisteredBenchmarks();  // they hold references to `program`
    benchmark::Shutdown();
    return 0;
  } catch (const InputError& error) {
    std::fputs(fmt::format("{}: {}\n", argv[0], error.what()).c_str(), stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fputs(fmt::format("{}: {}\n", argv[0], error.what()).c_str(), stderr);
    return 1;
  }
}

}  // namespace lloyd::bench

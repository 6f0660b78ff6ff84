#include <lloyd/internal/format_count.hpp>
#include <lloyd/memory_plan.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/sdk/machine/usable_processors.hpp>

namespace lloyd {
namespace {

// Larger blocks are not read faster.
constexpr double kLargestBlockBytes = 256 << 20;

// Bytes that do not depend on how the data set is held; float64, so that they cannot overflow.
double fixed_bytes(const ProblemShape& shape, const FitOptions& options) {
  const auto n = static_cast<double>(shape.samples);
  const double cells = static_cast<double>(shape.clusters) * static_cast<double>(shape.features);
  const double labels =
      4 * n * (options.restarts > 1 ? 2 : 1);  // labels of the best fit and of the current one
  return kProgramBytes + labels + seeding_bytes(options.seeding, shape) + 8 * 8 * cells;
}

double row_bytes(const ProblemShape& shape) {
  return static_cast<double>(shape.features) * static_cast<double>(size_of(shape.dtype));
}

// The largest number of rows in a block; 1 for a rank without rows.
double max_rows(const ProblemShape& shape) {
  return std::max(1.0, static_cast<double>(shape.samples));
}

// The smallest number of rows in a window with which the threads of a backend have enough blocks to
// share. Compressed chunks of a file need larger windows.
std::int64_t min_window_rows(const ProblemShape& shape, std::int64_t reading_bytes) {
  constexpr double kBytesPerCore = 2 << 20;
  constexpr double kMinRowsPerCore = 4096;
  constexpr double kMaxBytes = 64 << 20;
  constexpr std::int64_t kUnit = 1024;  // windows of whole tiles
  const double cores = usable_processors();
  const double bytes = std::max(
      std::min(cores * std::max(kBytesPerCore, kMinRowsPerCore * row_bytes(shape)), kMaxBytes),
      static_cast<double>(reading_bytes) / 2);
  const auto rows =
      static_cast<std::int64_t>(std::clamp(bytes / row_bytes(shape), 1.0, max_rows(shape)));
  return rows < kUnit ? rows : rows / kUnit * kUnit;
}

void check_planned_shape(const std::string& name, const ProblemShape& shape) {
  if (shape.samples >= 0 && shape.features >= 1 && shape.clusters >= 1) return;
  throw InputError(fmt::format(
      "{}: a fit of {} of {} with {} cannot be planned; samples must be at least 0, features and "
      "clusters at least 1",
      name, format_count(shape.samples, "sample"), format_count(shape.features, "feature"),
      format_count(shape.clusters, "cluster")));
}

}  // namespace

MemoryPlan plan_memory(const std::string& name, const LoadedBackend& backend,
                       const ProblemShape& shape, const ParameterSet& parameters,
                       const FitOptions& options, std::int64_t limit, bool in_blocks,
                       std::int64_t reading_bytes, std::int64_t output_bytes,
                       std::int64_t ranks_bytes) {
  check_planned_shape(name, shape);
  const FitSpec spec = make_spec(options, 0);
  const double fixed = fixed_bytes(shape, options) + static_cast<double>(reading_bytes) +
                       static_cast<double>(output_bytes) + static_cast<double>(ranks_bytes);
  double estimated = 0;  // host memory of the backend in the last total()
  // `held` blocks of `rows` rows, and a session on `session_rows` rows.
  const auto total = [&](std::int64_t rows, int held, std::int64_t session_rows) {
    ProblemShape part = shape;
    // A block may have fewer rows than clusters, but an estimate is for a whole fit, with k <= n.
    part.samples = std::max(session_rows, shape.clusters);
    const MemoryEstimate memory = estimate_memory(backend, part, parameters, spec);
    estimated = static_cast<double>(memory.host_bytes);
    const double former_labels = held > 1 ? 4 * static_cast<double>(session_rows) : 0;
    return fixed + held * static_cast<double>(rows) * row_bytes(shape) + former_labels + estimated;
  };
  const auto most = static_cast<double>(limit);
  const double whole = total(shape.samples, 1, shape.samples);
  if (whole <= most) return {0, 0, static_cast<std::int64_t>(whole)};

  const auto refuse = [&](double bytes, const char* how) {
    const std::string limit_text =
        most < 0x1p20 ? fmt::format("{} bytes", limit) : fmt::format("{:.1f} MiB", most / 0x1p20);
    // Not the data is to blame if most of the memory is the backend's.
    if (estimated > most && estimated > bytes / 2) {
      throw InputError(
          fmt::format("{}: the backend '{}' estimates that a fit of {} of {} with {} takes {:.1f} "
                      "MiB of its memory; the limit is {}",
                      name, backend.name(), format_count(shape.samples, "sample"),
                      format_count(shape.features, "feature"),
                      format_count(shape.clusters, "cluster"), estimated / 0x1p20, limit_text));
    }
    throw InputError(fmt::format(
        "{}: {} of {} with {} take {:.1f} MiB of memory {}, of which {:.1f} MiB are the "
        "program's{}{}{}{}; the limit is {}",
        name, format_count(shape.samples, "sample"), format_count(shape.features, "feature"),
        format_count(shape.clusters, "cluster"), std::ceil(bytes / 1e5) * 1e5 / 0x1p20, how,
        kProgramBytes / 0x1p20,
        estimated < 0x1p20 ? ""
                           : fmt::format(" and {:.1f} MiB those that the backend '{}' estimates",
                                         estimated / 0x1p20, backend.name()),
        reading_bytes == 0 ? ""
                           : fmt::format(" and {:.1f} MiB those of unpacking a chunk of the file",
                                         static_cast<double>(reading_bytes) / 0x1p20),
        output_bytes == 0 ? ""
                          : fmt::format(" and {:.1f} MiB those of the requested outputs",
                                        static_cast<double>(output_bytes) / 0x1p20),
        ranks_bytes == 0
            ? ""
            : fmt::format(" and {:.1f} MiB those of combining the results of several ranks",
                          static_cast<double>(ranks_bytes) / 0x1p20),
        limit_text));
  };
  if (!in_blocks) refuse(whole, "as a whole, which is how text is held");
  auto rows = static_cast<std::int64_t>(
      std::clamp(kLargestBlockBytes / row_bytes(shape), 1.0, max_rows(shape)));
  double bytes = total(rows, 2, rows);
  for (; bytes > most; bytes = total(rows, 2, rows)) {
    if (rows == 1) refuse(bytes, "even when they are read in blocks");
    rows /= 2;
  }
  MemoryPlan plan{rows, 0, static_cast<std::int64_t>(bytes)};
  if ((backend.info().capabilities & kCapabilityRowWindows) != 0) {
    const std::int64_t smallest = min_window_rows(shape, reading_bytes);
    // Threads wait for one another at the end of each window, so larger windows are faster, if the
    // limit allows them.
    for (const std::int64_t factor : {8, 4, 2, 1}) {
      const std::int64_t window = std::min(factor * smallest, shape.samples);
      const double fit_bytes = total(window, 2, shape.samples);
      if (fit_bytes > most) continue;
      plan.window_rows = window;
      plan.bytes = static_cast<std::int64_t>(std::max(bytes, fit_bytes));
      break;
    }
  }
  return plan;
}

std::int64_t distributed_bytes(const ProblemShape& shape) {
  // The MPI library, its buffers and the memory that it shares with other processes.
  constexpr double kCommunicatorBytes = 32 << 20;
  // The statistics keep the values of up to kBlockRows rows as float64, and three numbers for each
  // feature of every further block of as many rows.
  constexpr double kBlockRows = 4096;
  const auto d = static_cast<double>(shape.features);
  const double statistics =
      8 * kBlockRows * d + 24 * d * static_cast<double>(shape.samples) / kBlockRows;
  // A message of up to three limbs; sums of this pass, of the last one and of all ranks, their
  // changes, and sums in which samples are relocated. See docs/scaling.md, "Memory".
  constexpr double kCellBytes = 160;
  const double cells = static_cast<double>(shape.clusters) * d;
  constexpr double kMaxBytes = 0x1p62;
  return static_cast<std::int64_t>(
      std::min(kCommunicatorBytes + statistics + kCellBytes * cells, kMaxBytes));
}

}  // namespace lloyd

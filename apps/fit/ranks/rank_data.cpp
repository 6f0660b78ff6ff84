#include "fit/ranks/rank_data.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/functional/hash.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/data/row_views.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/memory_plan.hpp>

#include "fit/ranks/rank_files.hpp"
#include "output/output.hpp"
#include "progress/rows_progress.hpp"
#include "supervision/interrupt.hpp"
#include "text/numbers.hpp"

namespace lloyd::apps {
namespace {

// A hash of some rows, spread evenly from the first to the last.
std::int64_t hash_of_sampled_rows(const RowSource& source) {
  constexpr std::int64_t kRows = 32;
  std::vector<std::byte> row(static_cast<std::size_t>(source.features() * size_of(source.dtype())));
  std::size_t hash = 0;
  const std::int64_t count = std::min(kRows, source.samples());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = count == 1 ? 0 : i * (source.samples() - 1) / (count - 1);
    source.read({at, at + 1}, row.data());
    boost::hash_combine(hash, boost::hash_range(row.begin(), row.end()));
  }
  return static_cast<std::int64_t>(hash);
}

// Throws on all ranks unless the file has the same number of samples and, in the rows that are
// compared, the same values on each.
void require_same_file(const RowSource& source, const Ranks& ranks) {
  std::int64_t hash = 0;
  ranks.together([&] { hash = hash_of_sampled_rows(source); });
  const std::vector<std::int64_t> samples = ranks.gather(source.samples());
  const std::vector<std::int64_t> hashes = ranks.gather(hash);
  const std::vector<HostName> hosts = ranks.gather(host_name());
  for (std::size_t rank = 1; rank < samples.size(); ++rank) {
    const std::string name = name_of_rank(static_cast<int>(rank), hosts[rank]);
    if (samples[rank] != samples[0]) {
      throw InputError(
          fmt::format("{} has {} on rank 0, but {} on {}; all ranks must see the same file",
                      source.name(), format_count(samples[0], "sample"), samples[rank], name));
    }
    if (hashes[rank] != hashes[0]) {
      throw InputError(
          fmt::format("{} has other values on {} than on rank 0; all ranks must see the same file",
                      source.name(), name));
    }
  }
}

// The number of ranks on this host; collective.
std::int64_t ranks_on_this_host(const Ranks& ranks) {
  const HostName host = host_name();
  const std::vector<HostName> hosts = ranks.gather(host);
  return std::count(hosts.begin(), hosts.end(), host);
}

MemoryPlan plan_rows(const RowSource& source, RowRange rows, const ChosenBackend& chosen,
                     const FitOptions& options, std::int64_t limit, std::int64_t output_bytes) {
  ProblemShape shape;
  shape.samples = rows.size();
  shape.features = shape.stride = source.features();
  shape.clusters = options.clusters;
  shape.dtype = source.dtype();
  FitOptions local = options;
  local.clusters = std::min(local.clusters, shape.samples);
  return plan_memory(source.name(), *chosen.backend, shape, chosen.parameters, local, limit,
                     /*in_blocks=*/true, source.reading_bytes(), output_bytes,
                     distributed_bytes(shape));
}

// How a rank reads its rows. Both are 0 if it holds them in memory.
struct BlockReading {
  std::int64_t block_rows = 0;
  std::int64_t limit = 0;  // of the rank's memory, in bytes
};

// Rank 0 says how many ranks read their rows in blocks, if any. Collective.
void note_block_reading(const std::string& file, BlockReading mine, const RankScope& scope) {
  std::vector<BlockReading> readings = scope.ranks().gather(mine);
  const auto ranks = std::ssize(readings);
  std::erase_if(readings, [](const BlockReading& reading) { return reading.block_rows == 0; });
  if (readings.empty() || !scope.is_first()) return;
  const auto [smallest, largest] = std::minmax_element(
      readings.begin(), readings.end(),
      [](const BlockReading& a, const BlockReading& b) { return a.block_rows < b.block_rows; });
  note("{} is read in blocks of {}{} by {}, to stay within {} of memory each\n", file,
       smallest->block_rows == largest->block_rows ? "" : "at least ",
       format_count(smallest->block_rows, "sample"),
       (std::ssize(readings) == ranks ? "all " : fmt::format("{} of ", readings.size())) +
           format_count(ranks, "rank"),
       experiment::format_bytes(smallest->limit));
}

}  // namespace

void refuse_on_ranks(bool given, std::string_view what, std::string_view instead) {
  if (!given) return;
  throw InputError(fmt::format("{} cannot be used with several processes; {}", what, instead));
}

void refuse_single_process_data(const DataOptions& data) {
  const auto format = find_format(data.file);
  constexpr std::string_view kConvert = "convert it to .npy with 'lloyd data convert'";
  refuse_on_ranks(data.file == "-", "standard input", "give a file's name");
  refuse_on_ranks(format == FileFormat::csv, "a text file", kConvert);
  refuse_on_ranks(format == FileFormat::npz, "an .npz file", kConvert);
  refuse_on_ranks(data.drop_missing, "--drop-missing",
                  "use 'lloyd data convert --drop-missing' first");
}

std::vector<RoundingLoss> rounding_losses_on_ranks(
    const std::shared_ptr<const RowSource>& source, const MemoryOption& memory,
    const std::shared_ptr<Communicator>& communicator) {
  const Ranks ranks(communicator);
  const RowRange rows = rows_of_rank(source->samples(), ranks.rank(), ranks.size());
  std::vector<FeatureRounding> rounding;
  StatisticsBlocks blocks;
  ranks.together([&] {
    rounding = source->rounding();
    if (rounding.empty()) return;
    blocks = plan_statistics(*source);
    check_reading_memory(source->name(), blocks.bytes, memory.limit);
  });
  std::int64_t is_rounded = rounding.empty() ? 0 : 1;
  ranks.max(std::span(&is_rounded, 1));
  if (is_rounded == 0) return {};
  const Dataset part =
      rows.size() == 0
          ? Dataset::part(source->name(), read_rows(*source, rows, ranks), communicator)
          : Dataset::part(select_rows(source, rows), blocks.rows, communicator,
                          [](std::int64_t) { return interrupted(); });
  return lloyd::rounding_losses(rounding, part.statistics());
}

RankData hold_rank_rows(std::shared_ptr<const RowSource> source, const ChosenBackend& chosen,
                        const FitOptions& options, const MemoryOption& memory,
                        const RankScope& scope, std::int64_t output_bytes) {
  const Ranks& ranks = scope.ranks();
  require_same_file(*source, ranks);
  const RowRange rows = rows_of_rank(source->samples(), ranks.rank(), ranks.size());
  const std::int64_t sharing = ranks_on_this_host(ranks);
  BlockReading reading;
  std::int64_t window_rows = 0;
  Matrix matrix;
  std::vector<FeatureRounding> rounding;
  ranks.together([&] {
    const std::int64_t limit = process_memory(memory.limit) / (memory.limit ? 1 : sharing);
    if (rows.size() > 0) {
      const MemoryPlan plan = plan_rows(*source, rows, chosen, options, limit, output_bytes);
      reading.block_rows = plan.block_rows;
      window_rows = plan.window_rows;
    }
    if (reading.block_rows == 0) {
      matrix = read_rows(*source, rows, ranks);
      rounding = source->rounding();
      return;
    }
    return_freed_memory();
    reading.limit = limit;
  });
  note_block_reading(source->name(), reading, scope);
  // Dataset::part() is collective: each rank calls the overload for the way in which it holds its
  // rows.
  if (reading.block_rows == 0) {
    RankData data{Dataset::part(source->name(), std::move(matrix), scope.communicator())};
    data.dataset.rounding = std::move(rounding);
    return data;
  }
  RowsProgress progress("read for statistics");
  const auto stop = [&](std::int64_t read) {
    return !progress.update(read, static_cast<double>(read) / static_cast<double>(rows.size()));
  };
  return {Dataset::part(select_rows(std::move(source), rows), reading.block_rows,
                        scope.communicator(), stop),
          reading.block_rows, window_rows};
}

}  // namespace lloyd::apps

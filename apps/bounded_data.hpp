// A data file within a limit of memory: read as a whole, or block by block in every pass.
#pragma once

#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>

#include <lloyd/fit.hpp>

#include "backend_options.hpp"
#include "data_options.hpp"

namespace lloyd::apps {

/// Filled by the command line's parser.
struct MemoryOption {
  std::optional<std::uint64_t> limit;  ///< bytes; not set: what the machine lets this process use

  void add_to(CLI::App& command);
};

struct BoundedData {
  Dataset dataset;
  std::int64_t block_rows = 0;  ///< for OpenSession; 0: in memory
};

/// Opens the file for such a fit with the chosen backend, within the limit. Throws InputError when
/// the fit does not fit; Cancelled on interruption.
BoundedData open_within(const MemoryOption& memory, const DataOptions& data,
                        const ChosenBackend& chosen, const FitOptions& options);

}  // namespace lloyd::apps

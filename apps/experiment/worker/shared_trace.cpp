#include "experiment/worker/shared_trace.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <lloyd/internal/json_text.hpp>

#include "ipc/shared_memory.hpp"

namespace lloyd::experiment {
namespace {

// Nesting of JSON levels that a trace needs: its object, its replay's object, and lists in lists.
constexpr int kMaxLevels = 8;

}  // namespace

apps::Descriptor share_trace(const Trace& trace) {
  const std::string text = to_json(trace).dump();
  return apps::make_shared_memory(text.data(), static_cast<std::int64_t>(text.size()));
}

Trace receive_trace(int descriptor, std::int64_t clusters) {
  const std::int64_t bytes = apps::shared_memory_bytes(descriptor);
  const std::shared_ptr<const void> mapped = apps::map_shared(descriptor, bytes);
  const std::string_view text(static_cast<const char*>(mapped.get()),
                              static_cast<std::size_t>(bytes));
  return trace_from_json(parse_json(text, kMaxLevels), clusters);
}

}  // namespace lloyd::experiment

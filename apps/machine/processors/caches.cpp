#include "machine/processors/caches.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace lloyd::machine {
namespace {

// Parses "1024K" or "32M".
std::int64_t size_of_text(const std::string& text) {
  const std::int64_t number = number_of(text);
  if (number < 0) return 0;
  switch (text.back()) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
  }
  return number;
}

}  // namespace

std::vector<Cache> read_caches(const SystemFiles& files) {
  constexpr std::string_view kFolder = "/sys/devices/system/cpu";
  // Every processor lists its caches; equal lists of sharers mean the same instance.
  std::map<std::tuple<int, std::int64_t, std::string>, std::set<std::string>> found;
  for (const std::string& processor : files.numbered(kFolder, "cpu")) {
    const std::string caches = fmt::format("{}/{}/cache", kFolder, processor);
    for (const std::string& index : files.numbered(caches, "index")) {
      const auto text = [&](const char* name) {
        return files.text(fmt::format("{}/{}/{}", caches, index, name));
      };
      const std::int64_t level = number_of(text("level"));
      const std::int64_t size = size_of_text(text("size"));
      const std::string type = text("type");
      if (level < 1 || level > 9 || size == 0 || type == "Instruction") continue;
      const std::string sharers = text("shared_cpu_list");
      found[{static_cast<int>(level), -size, type}].insert(sharers.empty() ? processor : sharers);
    }
  }
  std::vector<Cache> caches;
  for (const auto& [key, instances] : found) {
    Cache cache{std::get<0>(key), std::get<2>(key), -std::get<1>(key),
                static_cast<std::int64_t>(instances.size()), 1};
    for (const std::string& sharers : instances) {
      cache.shared_by =
          std::max(cache.shared_by, static_cast<std::int64_t>(processors_of(sharers).size()));
    }
    caches.push_back(std::move(cache));
  }
  return caches;
}

std::int64_t last_level_bytes(const std::vector<Cache>& caches) {
  std::int64_t bytes = 0;
  for (const Cache& cache : caches) {
    if (cache.level == caches.back().level) bytes += cache.size_bytes * cache.instances;
  }
  return bytes;
}

}  // namespace lloyd::machine

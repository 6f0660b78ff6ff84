#include "json/machine_json.hpp"

#include "json/json_or_null.hpp"

namespace lloyd::apps {

using nlohmann::ordered_json;

ordered_json caches_json(const std::vector<machine::Cache>& caches) {
  ordered_json list = ordered_json::array();
  for (const machine::Cache& cache : caches) {
    list.push_back({{"level", cache.level},
                    {"type", cache.type},
                    {"size_bytes", cache.size_bytes},
                    {"instances", cache.instances},
                    {"shared_by", cache.shared_by}});
  }
  return list;
}

ordered_json openmp_json(const std::vector<machine::OpenmpRuntime>& runtimes) {
  ordered_json list = ordered_json::array();
  for (const machine::OpenmpRuntime& runtime : runtimes) {
    list.push_back({{"name", runtime.name},
                    {"threads", positive_or_null(runtime.threads)},
                    {"path", runtime.path}});
  }
  return list;
}

ordered_json names_json(const machine::NamedTexts& texts) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, text] : texts) object[name] = text;
  return object;
}

}  // namespace lloyd::apps

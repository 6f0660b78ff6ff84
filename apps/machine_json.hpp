// What is known of a machine as JSON, for `lloyd doctor` and for records alike.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/caches.hpp"
#include "machine/openmp_runtimes.hpp"
#include "machine/system.hpp"

namespace lloyd::apps {

/// null where something is not known or there is none.
template <class Value>
nlohmann::ordered_json positive_or_null(Value value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

/// [{"level", "type", "size_bytes", "instances", "shared_by"}, ...]
nlohmann::ordered_json caches_json(const std::vector<machine::Cache>& caches);
/// [{"name", "threads", "path"}, ...]
nlohmann::ordered_json openmp_json(const std::vector<machine::OpenmpRuntime>& runtimes);
/// {"OMP_WAIT_POLICY": "passive", ...}
nlohmann::ordered_json names_json(const machine::NamedTexts& texts);

}  // namespace lloyd::apps

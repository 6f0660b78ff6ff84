// Description of the machine as JSON, for `lloyd doctor` and for records.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/processors/caches.hpp"
#include "machine/system/openmp_runtimes.hpp"
#include "machine/system/system.hpp"

namespace lloyd::apps {

/// [{"level", "type", "size_bytes", "instances", "shared_by"}, ...]
nlohmann::ordered_json caches_json(const std::vector<machine::Cache>& caches);
/// [{"name", "threads", "path"}, ...]
nlohmann::ordered_json openmp_json(const std::vector<machine::OpenmpRuntime>& runtimes);
/// {"OMP_WAIT_POLICY": "passive", ...}
nlohmann::ordered_json names_json(const machine::NamedTexts& texts);

}  // namespace lloyd::apps

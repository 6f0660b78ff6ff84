#include "experiment/environment/machine.hpp"

#include "json/json_or_null.hpp"
#include "json/machine_json.hpp"
#include "machine/processors/affinity.hpp"
#include "machine/processors/cpu.hpp"
#include "machine/system/cgroup.hpp"
#include "machine/system/memory.hpp"

namespace lloyd::experiment {

using apps::positive_or_null;
using apps::text_or_null;
using nlohmann::ordered_json;

namespace {

std::vector<machine::Cache> caches_from_json(const ordered_json& list) {
  std::vector<machine::Cache> caches;
  for (const ordered_json& entry : list) {
    const JsonFields json(entry, "machine.caches");
    machine::Cache& cache = caches.emplace_back();
    cache.level = static_cast<int>(json.integer("level", 1, 9));
    cache.type = json.text("type");
    cache.size_bytes = json.integer("size_bytes", 1);
    cache.instances = json.integer("instances", 1);
    cache.shared_by = json.integer("shared_by", 1);
  }
  return caches;
}

machine::NamedTexts names_from_json(const JsonFields& json, std::string_view key) {
  machine::NamedTexts names;
  const JsonFields object = json.object(key);
  for (const auto& [name, text] : json.object_json(key).items()) {
    names.emplace_back(name, object.text(name));
  }
  return names;
}

}  // namespace

Machine this_machine() {
  const machine::Build build = machine::this_build();
  const machine::Cpu cpu = machine::read_cpu();
  const machine::CgroupLimits limits = machine::read_cgroup_limits();
  Machine machine;
  machine.cpu = cpu.model;
  machine.cores = static_cast<std::int64_t>(machine::processors_at_start().size());
  machine.memory_bytes = machine::usable_memory(machine::read_memory(), limits);
  machine.os = machine::operating_system();
  machine.compiler = build.compiler;
  machine.lloyd = build.version;
  machine.physical_cores = cpu.physical;
  machine.sockets = cpu.sockets;
  machine.cpu_quota = limits.cpus;
  machine.governor = cpu.governor;
  machine.boost = cpu.boost;
  machine.caches = machine::read_caches();
  machine.build_type = build.type;
  machine.flags = build.flags;
  machine.commit = build.commit;
  machine.libraries = build.libraries;
  machine.variables = machine::set_variables();
  return machine;
}

ordered_json to_json(const Machine& machine) {
  return {
      {"cpu", machine.cpu},
      {"cores", machine.cores},
      {"memory_bytes", machine.memory_bytes},
      {"os", machine.os},
      {"compiler", machine.compiler},
      {"lloyd", machine.lloyd},
      {"physical_cores", positive_or_null(machine.physical_cores)},
      {"sockets", positive_or_null(machine.sockets)},
      {"cpu_quota", positive_or_null(machine.cpu_quota)},
      {"governor", text_or_null(machine.governor)},
      {"boost", machine.boost ? ordered_json(*machine.boost) : ordered_json()},
      {"caches", machine.caches.empty() ? ordered_json() : apps::caches_json(machine.caches)},
      {"build_type", text_or_null(machine.build_type)},
      {"flags", text_or_null(machine.flags)},
      {"commit", text_or_null(machine.commit)},
      {"libraries",
       machine.libraries.empty() ? ordered_json() : apps::names_json(machine.libraries)},
      {"environment", machine.variables ? apps::names_json(*machine.variables) : ordered_json()}};
}

Machine machine_from_json(const JsonFields& json) {
  Machine machine;
  machine.cpu = json.text("cpu");
  machine.cores = json.integer("cores", 0);
  machine.memory_bytes = json.integer("memory_bytes", 0);
  machine.os = json.text("os");
  machine.compiler = json.text("compiler");
  machine.lloyd = json.text("lloyd");
  if (json.has("physical_cores")) machine.physical_cores = json.integer("physical_cores", 1);
  if (json.has("sockets")) machine.sockets = json.integer("sockets", 1);
  if (json.has("cpu_quota")) machine.cpu_quota = json.number("cpu_quota", 0);
  machine.governor = json.text_or_nothing("governor");
  if (json.has("boost")) machine.boost = json.boolean("boost");
  if (json.has("caches")) machine.caches = caches_from_json(json.list_or_nothing("caches"));
  machine.build_type = json.text_or_nothing("build_type");
  machine.flags = json.text_or_nothing("flags");
  machine.commit = json.text_or_nothing("commit");
  if (json.has("libraries")) machine.libraries = names_from_json(json, "libraries");
  if (json.has("environment")) machine.variables = names_from_json(json, "environment");
  return machine;
}

}  // namespace lloyd::experiment

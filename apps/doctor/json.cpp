#include "doctor/report.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

// null where something is not known or there is none.
template <class Value>
Json positive(Value value) {
  return value > 0 ? Json(value) : Json();
}

Json text(const std::string& value) {
  return value.empty() ? Json() : Json(value);
}

Json cpu_json(const DoctorReport& report) {
  Json kinds = Json::array();
  for (const machine::CoreKind& kind : report.cpu.kinds) {
    kinds.push_back({{"name", kind.name}, {"processors", kind.processors}});
  }
  return {{"model", text(report.cpu.model)},
          {"features", report.cpu.features},
          {"physical_cores", positive(report.cpu.physical)},
          {"logical_processors", positive(report.cpu.logical)},
          {"allowed_processors", report.allowed_processors},
          {"quota_processors", positive(report.cgroup.cpus)},
          {"kinds", kinds},
          {"governor", text(report.cpu.governor)}};
}

Json caches_json(const DoctorReport& report) {
  Json caches = Json::array();
  for (const machine::Cache& cache : report.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size_bytes", cache.size_bytes},
                      {"instances", cache.instances},
                      {"shared_by", cache.shared_by}});
  }
  return caches;
}

Json rate_json(const machine::Rate& rate) {
  return {{"one_thread", rate.one_thread}, {"all_threads", rate.all_threads}};
}

Json ceilings_json(const DoctorReport& report) {
  if (!report.ceilings.has_value()) return {};
  const machine::Ceilings& ceilings = *report.ceilings;
  return {{"instruction_set", ceilings.instruction_set},
          {"threads", ceilings.threads},
          {"float32_gflops", rate_json(ceilings.float32_gflops)},
          {"float64_gflops", rate_json(ceilings.float64_gflops)},
          {"read_gbs", rate_json(ceilings.read_gbs)},
          {"triad_gbs", rate_json(ceilings.triad_gbs)},
          {"buffer_bytes", ceilings.buffer_bytes}};
}

Json gpus_json(const machine::Gpus& gpus) {
  Json list = Json::array();
  for (const machine::Gpu& gpu : gpus.list) {
    list.push_back({{"name", gpu.name},
                    {"memory_bytes", positive(gpu.memory_bytes)},
                    {"compute_capability", text(gpu.compute_capability)}});
  }
  return {{"driver", text(gpus.driver)},
          {"cuda", text(gpus.cuda)},
          {"list", list},
          {"problem", text(gpus.problem)}};
}

Json plugins_json(const DoctorReport& report) {
  Json plugins = Json::array();
  for (const PluginReport& plugin : report.plugins) {
    plugins.push_back({{"name", plugin.name},
                       {"version", plugin.version},
                       {"abi", plugin.abi},
                       {"file", plugin.file},
                       {"summary", plugin.summary},
                       {"available", plugin.unavailable.empty()},
                       {"reason", text(plugin.unavailable)}});
  }
  return plugins;
}

}  // namespace

Json doctor_json(const DoctorReport& report) {
  Json json = {{"lloyd",
                {{"version", report.build.version},
                 {"compiler", report.build.compiler},
                 {"build_type", report.build.type},
                 {"flags", report.build.flags}}},
               {"os", report.os},
               {"load", report.load < 0 ? Json() : Json(report.load)},
               {"cpu", cpu_json(report)},
               {"caches", caches_json(report)},
               {"memory",
                {{"total_bytes", positive(report.memory.total)},
                 {"available_bytes", positive(report.memory.available)},
                 {"limit_bytes", positive(report.cgroup.memory_bytes)}}},
               {"ceilings", ceilings_json(report)},
               {"gpus", gpus_json(report.gpus)}};
  json["openmp_runtimes"] = Json::array();
  for (const machine::OpenmpRuntime& runtime : report.openmp_runtimes) {
    json["openmp_runtimes"].push_back({{"name", runtime.name}, {"path", runtime.path}});
  }
  json["environment"] = Json::object();
  for (const auto& [name, value] : report.environment) json["environment"][name] = value;
  json["plugins"] = plugins_json(report);
  json["refused"] = Json::array();
  for (const RefusedPlugin& refused : report.refused) {
    json["refused"].push_back({{"file", refused.path.string()}, {"reason", refused.reason}});
  }
  json["usable"] = report.usable();
  json["warnings"] = warnings_of(report);
  return json;
}

}  // namespace lloyd::apps

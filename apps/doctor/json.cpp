#include "doctor/report.hpp"
#include "json/json_or_null.hpp"
#include "json/machine_json.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

Json cpu_json(const DoctorReport& report) {
  Json kinds = Json::array();
  for (const machine::CoreKind& kind : report.cpu.kinds) {
    kinds.push_back({{"name", kind.name}, {"processors", kind.processors}});
  }
  return {{"model", text_or_null(report.cpu.model)},
          {"features", report.cpu.features},
          {"physical_cores", positive_or_null(report.cpu.physical)},
          {"logical_processors", positive_or_null(report.cpu.logical)},
          {"allowed_processors", report.allowed_processors},
          {"quota_processors", positive_or_null(report.cgroup.cpus)},
          {"kinds", kinds},
          {"governor", text_or_null(report.cpu.governor)},
          {"sockets", positive_or_null(report.cpu.sockets)},
          {"boost", report.cpu.boost ? Json(*report.cpu.boost) : Json()}};
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
                    {"memory_bytes", positive_or_null(gpu.memory_bytes)},
                    {"compute_capability", text_or_null(gpu.compute_capability)}});
  }
  return {{"driver", text_or_null(gpus.driver)},
          {"cuda", text_or_null(gpus.cuda)},
          {"list", list},
          {"problem", text_or_null(gpus.problem)}};
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
                       {"reason", text_or_null(plugin.unavailable)}});
  }
  return plugins;
}

}  // namespace

Json doctor_json(const DoctorReport& report) {
  Json json = {{"lloyd",
                {{"version", report.build.version},
                 {"compiler", report.build.compiler},
                 {"build_type", report.build.type},
                 {"flags", report.build.flags},
                 {"commit", text_or_null(report.build.commit)},
                 {"libraries", names_json(report.build.libraries)}}},
               {"os", report.os},
               {"load", report.load < 0 ? Json() : Json(report.load)},
               {"cpu", cpu_json(report)},
               {"caches", caches_json(report.caches)},
               {"memory",
                {{"total_bytes", positive_or_null(report.memory.total)},
                 {"available_bytes", positive_or_null(report.memory.available)},
                 {"limit_bytes", positive_or_null(report.cgroup.memory_bytes)}}},
               {"ceilings", ceilings_json(report)},
               {"gpus", gpus_json(report.gpus)}};
  json["openmp_runtimes"] = openmp_json(report.openmp_runtimes);
  json["hdf5"] = {{"version", text_or_null(report.hdf5.version)},
                  {"file", text_or_null(report.hdf5.file)},
                  {"problem", text_or_null(report.hdf5.problem)}};
  json["environment"] = names_json(report.environment);
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

// lloyd backends: lists the backends, their capabilities, and why a backend is unavailable.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/error.hpp>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "text/names.hpp"
#include "text/table.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

Json device_json(const DeviceInfo& device) {
  return {{"index", device.index},
          {"kind", device.kind == DeviceKind::gpu ? "gpu" : "cpu"},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes}};
}

Json parameter_json(const ParameterInfo& parameter, const std::string& fallback) {
  Json json = {{"name", parameter.name},
               {"type", to_string(parameter.type)},
               {"default", fallback},
               {"meaning", parameter.meaning}};
  if (parameter.type == ParameterType::integer) {
    json["minimum"] = parameter.integer_minimum;
    json["maximum"] = parameter.integer_maximum;
  } else if (parameter.type == ParameterType::number) {
    json["minimum"] = parameter.number_minimum;
    json["maximum"] = parameter.number_maximum;
  } else if (parameter.type == ParameterType::choice) {
    for (std::int32_t i = 0; i < parameter.choice_count; ++i) {
      json["choices"].push_back(parameter.choices[i]);
    }
  }
  return json;
}

Json backend_json(const LoadedBackend& backend) {
  const BackendInfo& info = backend.info();
  const ParameterSet parameters = backend.default_parameters();
  Json json = {{"name", backend.name()},          {"version", backend.version()},
               {"file", backend.path().string()}, {"summary", info.summary},
               {"algorithm", info.algorithm},     {"available", backend.available()}};
  if (!backend.available()) json["reason"] = backend.unavailable();
  for (const DType dtype : {DType::float32, DType::float64}) {
    json["accuracy"][to_string(dtype)] = to_string(backend.accuracy(dtype));
    json["reproducibility"][to_string(dtype)] = to_string(backend.reproducibility(dtype));
  }
  json["devices"] = Json::array();
  for (const DeviceInfo& device : backend.devices()) json["devices"].push_back(device_json(device));
  json["parameters"] = Json::array();
  for (const ParameterInfo& parameter : parameters.schema()) {
    json["parameters"].push_back(parameter_json(parameter, parameters.text(parameter.name)));
  }
  return json;
}

std::string range_text(const ParameterInfo& parameter) {
  switch (parameter.type) {
    case ParameterType::integer:
      return fmt::format("{} to {}", parameter.integer_minimum, parameter.integer_maximum);
    case ParameterType::number:
      return fmt::format("{} to {}", parameter.number_minimum, parameter.number_maximum);
    case ParameterType::boolean:
      return "true or false";
    case ParameterType::choice: {
      std::string text;
      for (std::int32_t i = 0; i < parameter.choice_count; ++i) {
        text += (i == 0 ? "" : " | ") + std::string(parameter.choices[i]);
      }
      return text;
    }
  }
  return {};
}

void print_details(const LoadedBackend& backend) {
  const BackendInfo& info = backend.info();
  print_text("{} {}: {}\n", backend.name(), backend.version(), printable(info.summary));
  print_text("  file             {}\n", printable(backend.path().string()));
  print_text("  algorithm        {}\n", printable(info.algorithm));
  for (const DType dtype : {DType::float32, DType::float64}) {
    print_text("  on {:<13} labels {}, reproducibility {}\n", to_string(dtype),
               to_string(backend.accuracy(dtype)), to_string(backend.reproducibility(dtype)));
  }
  if (info.reproducibility_reason != nullptr) {
    print_text("  {:<16} {}\n", "", printable(info.reproducibility_reason));
  }
  if (!backend.available()) print_text("  not available    {}\n", backend.unavailable());
  for (const DeviceInfo& device : backend.devices()) {
    print_text("  device {:<9} {}\n", device.index, device.name);
  }
  const ParameterSet parameters = backend.default_parameters();
  for (const ParameterInfo& parameter : parameters.schema()) {
    print_text(
        "  parameter        {}\n",
        printable(fmt::format("{} = {} ({}): {}", parameter.name, parameters.text(parameter.name),
                              range_text(parameter), parameter.meaning)));
  }
}

// Label accuracy and reproducibility: "float32, threads".
std::string promise(const LoadedBackend& backend, DType dtype) {
  return fmt::format("{}, {}", to_string(backend.accuracy(dtype)),
                     to_string(backend.reproducibility(dtype)));
}

void print_table(const std::vector<std::shared_ptr<const LoadedBackend>>& backends) {
  using experiment::Table;
  Table table({{"backend"}, {"on float32"}, {"on float64"}, {"description"}});
  for (const auto& backend : backends) {
    table.add(
        {backend->name(), promise(*backend, DType::float32), promise(*backend, DType::float64)},
        backend->available() ? printable(backend->info().summary)
                             : "not available: " + backend->unavailable());
  }
  print_text("{}", table.str(result_width()));
  print_text("(label accuracy, reproducibility; 'lloyd backends NAME' describes one)\n");
}

int list_backends(const Context& context, const std::string& name, bool json) {
  isolated::IsolatedPlugins plugins(context.plugin_limit());
  Registry registry = context.registry(plugins);
  if (!name.empty()) {
    const auto backend = registry.load(name);
    if (json) {
      print_json(backend_json(*backend));
    } else {
      print_details(*backend);
    }
    return kDone;
  }

  const auto backends = registry.load_all();
  if (json) {
    Json document = {{"backends", Json::array()}, {"refused", Json::array()}};
    for (const auto& backend : backends) document["backends"].push_back(backend_json(*backend));
    for (const RefusedPlugin& refused : registry.refused()) {
      document["refused"].push_back({{"file", refused.path.string()}, {"reason", refused.reason}});
    }
    print_json(document);
    return kDone;
  }
  if (backends.empty()) print_text("no backends were found\n");
  if (!backends.empty()) print_table(backends);
  for (const RefusedPlugin& refused : registry.refused())
    print_text("refused: {}\n", printable(refused.reason));
  return kDone;
}

}  // namespace

void add_backends_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("backends", "List the backends, or describe one");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("NAME", *name, "The backend to describe, with its parameters");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([&context, name, json] {
    context.action = [&context, name, json] { return list_backends(context, *name, *json); };
  });
}

}  // namespace lloyd::apps

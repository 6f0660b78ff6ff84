// Loads plugins. Each step checks the next: header in the file, descriptor in the library, probe,
// create.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/loading_stages.hpp>
#include <lloyd/internal/plugin_struct.hpp>
#include <lloyd/internal/status_text.hpp>
#include <lloyd/registry.hpp>

#include "loading/plugin_header.hpp"

namespace lloyd {
namespace {

constexpr PluginKind kBackendPlugin = {LLOYD_PLUGIN_SECTION, LLOYD_PLUGIN_SYMBOL, "a Lloyd plugin",
                                       "backend"};

constexpr std::int64_t kMaxParameters = 1000;

// Limit for texts that are printed in one line, and for names.
constexpr std::size_t kMaxTextBytes = 1000;
constexpr std::size_t kMaxParameterNameBytes = 100;

// Refuses a range that is empty or has a bound that is NaN, and a default outside of it.
template <class Value>
void check_range(const std::string& what, Value fallback, Value minimum, Value maximum,
                 const std::function<void(std::string_view)>& refuse) {
  if (!(minimum <= maximum)) {
    refuse(
        fmt::format("{}with the range from {} to {}, which has no value", what, minimum, maximum));
  }
  if (!(minimum <= fallback && fallback <= maximum)) {
    refuse(fmt::format("{}with the default {}, which is not in its range from {} to {}", what,
                       fallback, minimum, maximum));
  }
}

void check_parameter(const ParameterInfo& parameter,
                     const std::function<void(std::string_view)>& refuse) {
  if (parameter.name == nullptr || parameter.meaning == nullptr) {
    refuse("declares a parameter without a name or meaning");
  }
  if (std::strlen(parameter.name) > kMaxParameterNameBytes) {
    refuse(fmt::format("declares a parameter with a name of more than {} bytes",
                       kMaxParameterNameBytes));
  }
  const std::string what = fmt::format("declares the parameter '{}' ", printable(parameter.name));
  const std::string_view name = parameter.name;
  if (name.empty() || name.find_first_of("= \t\n") != std::string_view::npos) {
    refuse(what + "with a name that is empty or has blanks or '='");
  }
  if (printable(name) != name) refuse(what + "with a name that is not printable UTF-8");
  if (std::strlen(parameter.meaning) > kMaxTextBytes) {
    refuse(fmt::format("{}with a meaning of more than {} bytes", what, kMaxTextBytes));
  }
  switch (parameter.type) {
    case ParameterType::choice:
      if (parameter.choice_count < 1 || parameter.choices == nullptr ||
          std::count(parameter.choices, parameter.choices + parameter.choice_count, nullptr) > 0) {
        refuse(what + "without its choices");
      }
      for (std::int32_t i = 0; i < parameter.choice_count; ++i) {
        const std::string_view choice = parameter.choices[i];
        if (printable(choice) != choice) {
          refuse(fmt::format("{}with the choice '{}', which is not printable UTF-8", what,
                             printable(choice)));
        }
        if (std::count(parameter.choices, parameter.choices + i, choice) > 0) {
          refuse(fmt::format("{}with the choice '{}' twice", what, choice));
        }
      }
      if (parameter.integer_default < 0 || parameter.integer_default >= parameter.choice_count) {
        refuse(what + "with a default that is none of its choices");
      }
      return;
    case ParameterType::number:
      check_range(what, parameter.number_default, parameter.number_minimum,
                  parameter.number_maximum, refuse);
      return;
    case ParameterType::boolean:
      if (parameter.integer_default != 0 && parameter.integer_default != 1) {
        refuse(what + "with a default that is neither 0 nor 1");
      }
      return;
    case ParameterType::integer:
      check_range(what, parameter.integer_default, parameter.integer_minimum,
                  parameter.integer_maximum, refuse);
      return;
  }
  refuse(what + "with an unknown type");
}

// Size of BackendInfo in version 1.0.
constexpr std::uint64_t kFirstInfoSize =
    offsetof(BackendInfo, parameter_count) + sizeof(BackendInfo::parameter_count);

// Checks the devices that a successful probe returned.
void check_devices(const std::string& file, const DeviceList& list) {
  const auto most = static_cast<std::int64_t>(std::size(list.devices));
  if (list.count < 0 || list.count > most) {
    throw InputError(fmt::format("{}: its probe() reports {} devices, where 0 to {} are possible",
                                 file, list.count, most));
  }
  for (std::int64_t i = 0; i < list.count; ++i) {
    const DeviceInfo& device = list.devices[i];
    const bool known = device.kind == DeviceKind::cpu || device.kind == DeviceKind::gpu;
    if (known && device.memory_bytes >= 0) continue;
    throw InputError(fmt::format(
        "{}: its probe() reports a device of kind {} with {} bytes of memory, where kinds 0 and 1 "
        "and no negative number are known",
        file, static_cast<int>(device.kind), device.memory_bytes));
  }
}

}  // namespace

PluginHeader read_plugin_header(const std::filesystem::path& file) {
  PluginHeader header{};
  read_header(file, kBackendPlugin, std::as_writable_bytes(std::span(&header, 1)));
  return header;
}

std::unique_ptr<LoadedBackend> load_plugin(const std::filesystem::path& given) {
  return load_plugin(given, [](LoadingStage) {});
}

std::unique_ptr<LoadedBackend> load_plugin(const std::filesystem::path& given,
                                           const std::function<void(LoadingStage)>& on_stage) {
  // dlopen() would search a file name without a slash on the library search path.
  const std::filesystem::path file = std::filesystem::absolute(given);
  const std::string name = file.string();
  const PluginHeader header = read_plugin_header(file);
  on_stage(LoadingStage::constructors);
  const auto& descriptor = *static_cast<const PluginDescriptor*>(
      load_descriptor(file, kBackendPlugin, std::as_bytes(std::span(&header, 1)), false));
  if (descriptor.probe == nullptr || descriptor.create == nullptr) {
    throw InputError(fmt::format("{}: its descriptor lacks probe or create", name));
  }

  on_stage(LoadingStage::probe);
  DeviceList list;
  const Status probed = descriptor.probe(&list);
  if (probed.ok()) check_devices(name, list);
  if (!probed.ok() && probed.code != StatusCode::unavailable) {
    throw InputError(fmt::format(
        "{}: its probe() failed: {} (StatusCode::unavailable would say that there is no device)",
        name, status_message(probed)));
  }
  std::string unavailable;
  if (!probed.ok()) {
    unavailable = status_message(probed);
  } else if (list.count < 1) {
    unavailable = "no usable device was found";
  }
  const auto count = std::clamp<std::int64_t>(list.count, 0, std::size(list.devices));
  std::vector<DeviceInfo> devices(list.devices, list.devices + count);
  for (DeviceInfo& device : devices) {
    const std::string text = printable(text_of_field(device.name));
    std::fill(std::begin(device.name), std::end(device.name), '\0');
    text.copy(device.name, sizeof(device.name) - 1);
  }

  on_stage(LoadingStage::create);
  Backend* backend = nullptr;
  const Status created = descriptor.create(&backend);
  if (!created.ok() || backend == nullptr) {
    throw InputError(
        fmt::format("{}: its backend could not be created: {}", name,
                    created.ok() ? "create returned no backend" : status_message(created)));
  }
  on_stage(LoadingStage::info);
  auto result = std::make_unique<LoadedBackend>(file, header, backend, std::move(devices),
                                                std::move(unavailable));
  check_backend(*result);
  return result;
}

void check_backend(const LoadedBackend& backend) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{}: its backend's info {}", backend.path().string(), what));
  };
  const BackendInfo* const given = backend.backend().info();
  if (given == nullptr) refuse("is missing");
  if (given->struct_size < kFirstInfoSize) {
    refuse(fmt::format("has {} bytes; at least {} are needed", given->struct_size, kFirstInfoSize));
  }
  const BackendInfo* const info = &backend.info();
  if (info->summary == nullptr || info->algorithm == nullptr) refuse("lacks summary or algorithm");
  for (const char* const text : {info->summary, info->algorithm, info->reproducibility_reason}) {
    if (text != nullptr && std::strlen(text) > kMaxTextBytes) {
      refuse(fmt::format("has a text of more than {} bytes", kMaxTextBytes));
    }
  }
  if (info->parameter_count < 0 || info->parameter_count > kMaxParameters ||
      (info->parameter_count > 0 && info->parameters == nullptr)) {
    refuse("declares parameters without describing them");
  }
  for (const Accuracy accuracy : {info->accuracy, info->accuracy_float64}) {
    if (accuracy < Accuracy::exact || accuracy > Accuracy::half) refuse("states no known accuracy");
  }
  for (const Reproducibility level : {info->reproducibility, info->reproducibility_float64}) {
    if (level < Reproducibility::canonical || level > Reproducibility::none) {
      refuse("states no known reproducibility");
    }
  }
  std::set<std::string> names;
  try {
    const ParameterSet parameters(info->parameters, info->parameter_count);
    for (const ParameterInfo& parameter : parameters.schema()) {
      check_parameter(parameter, refuse);
      if (!names.insert(parameter.name).second) {
        refuse(fmt::format("declares the parameter '{}' twice", printable(parameter.name)));
      }
    }
  } catch (const BackendError& error) {
    refuse(fmt::format("has a schema that cannot be read: {}", error.what()));
  }
}

LoadedBackend::LoadedBackend(std::filesystem::path path, const PluginHeader& header,
                             Backend* backend, std::vector<DeviceInfo> devices,
                             std::string unavailable)
    : path_(std::move(path)),
      name_(text_of_field(header.name)),
      version_(printable(text_of_field(header.version))),
      backend_(backend),
      info_(backend->info() == nullptr ? BackendInfo() : host_copy(backend->info())),
      devices_(std::move(devices)),
      unavailable_(std::move(unavailable)) {}

LoadedBackend::~LoadedBackend() {
  backend_->release();
}

Accuracy LoadedBackend::accuracy(DType dtype) const {
  return dtype == DType::float32 ? info().accuracy : info().accuracy_float64;
}

Reproducibility LoadedBackend::reproducibility(DType dtype) const {
  return dtype == DType::float32 ? info().reproducibility : info().reproducibility_float64;
}

ParameterSet LoadedBackend::default_parameters() const {
  return {info().parameters, info().parameter_count};
}

}  // namespace lloyd

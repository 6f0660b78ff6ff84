#include "external/description.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/plugin/abi.hpp>

#include "experiment/json_fields.hpp"
#include "json_text.hpp"
#include "names.hpp"

namespace lloyd::external {
namespace {

using experiment::JsonFields;

constexpr std::int64_t kProtocol = 1;
constexpr std::size_t kMostNameBytes = sizeof(PluginHeader::name) - 1;
constexpr std::size_t kMostVersionBytes = sizeof(PluginHeader::version) - 1;
constexpr std::size_t kMostParameters = 1000;

bool is_backend_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

ProgramDescription::ProgramDescription(std::string_view text) {
  const nlohmann::ordered_json json = apps::parse_json(text, kMaxJsonLevels);
  if (!json.is_object()) throw InputError("its description is no JSON object");
  const JsonFields fields(json);
  if (fields.integer("protocol", 0) != kProtocol) {
    fields.fail("protocol", fmt::format("{}", kProtocol));
  }
  const auto keep = [&](std::string value) {
    return texts_.emplace_back(std::move(value)).c_str();
  };
  name = fields.text("name");
  if (!is_backend_name(name)) {
    fields.fail("name", fmt::format("a name of lower-case letters, digits and '-', of at most {} "
                                    "characters",
                                    kMostNameBytes));
  }
  version = fields.text_or_nothing("version").substr(0, kMostVersionBytes);
  unavailable = fields.text_or_nothing("unavailable");
  info.summary = keep(fields.text_or_nothing("summary"));
  info.algorithm = keep("lloyd");
  info.preference = -1;  // never taken unless it is named
  info.capabilities = kCapabilityHostMemory | kCapabilityStrided;
  if (!unavailable.empty()) {
    info.capabilities |= kCapabilityFloat32 | kCapabilityFloat64;
    return;
  }
  info.algorithm = keep(fields.text("algorithm"));
  info.accuracy = info.accuracy_float64 = apps::parse_accuracy(fields.text("accuracy"));
  info.reproducibility = info.reproducibility_float64 =
      apps::parse_reproducibility(fields.text("reproducibility"));
  info.reproducibility_reason = keep("a program of others: taken on its word");
  const std::vector<std::string> dtypes = fields.texts("dtypes");
  if (dtypes.empty()) {
    throw InputError("'dtypes' is an empty list, not a list of 'float32', 'float64' or both");
  }
  for (const std::string& dtype : dtypes) {
    info.capabilities |=
        apps::parse_dtype(dtype) == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64;
  }
  for (const std::string& device :
       json.contains("devices") ? fields.texts("devices") : std::vector<std::string>()) {
    DeviceInfo& entry = devices.emplace_back();
    entry.index = static_cast<std::int32_t>(devices.size() - 1);
    entry.kind = DeviceKind::gpu;
    std::strncpy(entry.name, device.c_str(), sizeof(entry.name) - 1);
  }
  read_parameters(fields.list_or_nothing("parameters"));
}

void ProgramDescription::read_parameters(const nlohmann::ordered_json& list) {
  std::set<std::string> names;
  if (list.size() > kMostParameters) {
    throw InputError(
        fmt::format("it has {} parameters; at most {} are possible", list.size(), kMostParameters));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonFields fields(list[i], fmt::format("parameters[{}]", i));
    const auto keep = [&](std::string value) {
      return texts_.emplace_back(std::move(value)).c_str();
    };
    const std::string own_name = fields.text("name");
    if (own_name.empty() || own_name.find_first_of(" =\t\n") != std::string::npos ||
        own_name == kProgramKey || !names.insert(own_name).second) {
      fields.fail("name", fmt::format("a name of its own without blanks and '=', other than '{}'",
                                      kProgramKey));
    }
    const std::string type = fields.text("type");
    const char* const meaning = keep(fields.text_or_nothing("meaning"));
    if (type == "integer") {
      const std::int64_t minimum =
          fields.integer("minimum", std::numeric_limits<std::int64_t>::min());
      const std::int64_t maximum = fields.integer("maximum", minimum);
      parameters_.push_back(integer_parameter(
          keep(own_name), fields.integer("default", minimum, maximum), minimum, maximum, meaning));
    } else if (type == "boolean") {
      parameters_.push_back(boolean_parameter(keep(own_name), fields.boolean("default"), meaning));
    } else if (type == "choice") {
      std::vector<const char*>& words = choices_.emplace_back();
      for (const std::string& word : fields.texts("choices")) words.push_back(keep(word));
      if (words.empty()) {
        throw InputError(
            fmt::format("'parameters[{}].choices' is an empty list, not a list of words", i));
      }
      ParameterInfo& parameter = parameters_.emplace_back();
      parameter.name = keep(own_name);
      parameter.meaning = meaning;
      parameter.type = ParameterType::choice;
      parameter.choices = words.data();
      parameter.choice_count = static_cast<std::int32_t>(words.size());
    } else {
      fields.fail("type", "'integer', 'boolean' or 'choice'");
    }
  }
  info.parameters = parameters_.data();
  info.parameter_count = static_cast<std::int64_t>(parameters_.size());
}

}  // namespace lloyd::external

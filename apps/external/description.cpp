#include "external/description.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/plugin/abi/abi.hpp>

#include "text/names.hpp"

namespace lloyd::external {
namespace {

constexpr std::int64_t kProtocol = 1;
constexpr std::size_t kMaxNameBytes = sizeof(PluginHeader::name) - 1;
constexpr std::size_t kMaxVersionBytes = sizeof(PluginHeader::version) - 1;
constexpr std::size_t kMaxParameters = 1000;
// Same limit as for plugins, see plugin_loader.cpp.
constexpr std::size_t kMaxTextBytes = 1000;
// Maximum bytes of all parameter names with their longest choices as JSON: all values must fit into
// one packet to the trial's process.
constexpr std::size_t kMaxParameterBytes = 32768;

bool is_backend_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), allowed);
}

constexpr char kWithoutNul[] = "a text without NUL characters";

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

// Reads a text that C strings can hold.
std::string read_text(const JsonFields& fields, std::string_view key) {
  std::string text = fields.text(key);
  if (has_nul(text)) fields.fail(key, kWithoutNul);
  return text;
}

std::vector<std::string> read_texts(const JsonFields& fields, std::string_view key,
                                    const std::string& path) {
  std::vector<std::string> texts = fields.texts(key);
  for (const std::string& text : texts) {
    if (!has_nul(text)) continue;
    throw InputError(fmt::format("'{}' has '{}', not {}", path, shown(text), kWithoutNul));
  }
  return texts;
}

std::string read_short_text(const JsonFields& fields, std::string_view key) {
  std::string text = read_text(fields, key);
  if (text.size() > kMaxTextBytes) {
    fields.fail(key, fmt::format("a text of at most {} bytes", kMaxTextBytes));
  }
  return text;
}

// Reads a single line, which may end with line breaks.
std::string read_line(const JsonFields& fields, std::string_view key) {
  std::string text = read_short_text(fields, key);
  text.erase(text.find_last_not_of("\n\r") + 1);
  if (text.find_first_of("\n\r") != std::string::npos) fields.fail(key, "one line");
  return text;
}

// The first line of the version, which may be the whole output of `tool --version`.
std::string read_version(const JsonFields& fields) {
  const std::string text = read_text(fields, "version");
  return std::string(cut_text(text.substr(0, text.find_first_of("\n\r")), kMaxVersionBytes));
}

std::size_t json_bytes(const std::string& text) {
  return nlohmann::ordered_json(text).dump().size();
}

}  // namespace

ProgramDescription::ProgramDescription(std::string_view text) {
  const nlohmann::ordered_json json = parse_json(text, kMaxJsonLevels);
  if (!json.is_object()) throw InputError("its description is not a JSON object");
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
                                    kMaxNameBytes));
  }
  // Shortened, because tables and records repeat it and it may be a whole traceback.
  unavailable = shown(fields.text_or_nothing("unavailable"), kMaxTextBytes);
  // A program that is unavailable, for example because a package is missing, may not know its
  // version.
  if (unavailable.empty() || fields.has("version")) {
    version = read_version(fields);
  }
  info.summary = keep(unavailable.empty() || fields.has("summary") ? read_line(fields, "summary")
                                                                   : std::string());
  info.algorithm = keep("lloyd");
  info.preference = -1;  // chosen only by name
  info.capabilities = kCapabilityHostMemory | kCapabilityStrided;
  if (!unavailable.empty()) {
    info.capabilities |= kCapabilityFloat32 | kCapabilityFloat64;
    return;
  }
  info.algorithm = keep(read_short_text(fields, "algorithm"));
  info.accuracy = info.accuracy_float64 = apps::parse_accuracy(fields.text("accuracy"));
  info.reproducibility = info.reproducibility_float64 =
      apps::parse_reproducibility(fields.text("reproducibility"));
  info.reproducibility_reason = keep("an external program: its own statement, not verified");
  const std::vector<std::string> dtypes = fields.texts("dtypes");
  if (dtypes.empty()) {
    throw InputError("'dtypes' is an empty list, not a list of 'float32', 'float64' or both");
  }
  for (const std::string& dtype : dtypes) {
    info.capabilities |=
        apps::parse_dtype(dtype) == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64;
  }
  for (const std::string& device : json.contains("devices")
                                       ? read_texts(fields, "devices", "devices")
                                       : std::vector<std::string>()) {
    DeviceInfo& entry = devices.emplace_back();
    entry.index = static_cast<std::int32_t>(devices.size() - 1);
    entry.kind = DeviceKind::gpu;
    const std::string shown_name = printable(device);
    cut_text(shown_name, sizeof(entry.name) - 1).copy(entry.name, sizeof(entry.name) - 1);
  }
  prepares = json.contains("prepare") && fields.boolean("prepare");
  read_parameters(fields.list_or_nothing("parameters"));
}

void ProgramDescription::read_parameters(const nlohmann::ordered_json& list) {
  std::set<std::string> names;
  std::size_t bytes = 0;
  if (list.size() > kMaxParameters) {
    throw InputError(
        fmt::format("it has {} parameters; at most {} are possible", list.size(), kMaxParameters));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonFields fields(list[i], fmt::format("parameters[{}]", i));
    const auto keep = [&](std::string value) {
      return texts_.emplace_back(std::move(value)).c_str();
    };
    const std::string own_name = read_text(fields, "name");
    if (own_name.empty() || own_name.find_first_of(" =\t\n") != std::string::npos ||
        own_name == kProgramKey || !names.insert(own_name).second) {
      fields.fail("name", fmt::format("a name of its own without blanks and '=', other than '{}'",
                                      kProgramKey));
    }
    bytes += json_bytes(own_name);
    const std::string type = fields.text("type");
    const char* const meaning =
        keep(fields.has("meaning") ? read_short_text(fields, "meaning") : std::string());
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
      std::set<std::string> known;
      std::size_t longest = 0;
      for (const std::string& word :
           read_texts(fields, "choices", fmt::format("parameters[{}].choices", i))) {
        if (!known.insert(word).second) {
          throw InputError(fmt::format("'parameters[{}].choices' has '{}' twice", i, shown(word)));
        }
        words.push_back(keep(word));
        longest = std::max(longest, json_bytes(word));
      }
      bytes += longest;
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
  if (bytes > kMaxParameterBytes) {
    throw InputError(
        fmt::format("the names of its parameters, each with its longest choice, take {} bytes; at "
                    "most {} are possible",
                    bytes, kMaxParameterBytes));
  }
  info.parameters = parameters_.data();
  info.parameter_count = static_cast<std::int64_t>(parameters_.size());
}

}  // namespace lloyd::external

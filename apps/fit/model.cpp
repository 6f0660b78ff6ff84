#include "fit/model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/files.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "json/json_fields.hpp"
#include "json/json_text.hpp"
#include "options/bounded_data.hpp"
#include "options/centroids_file.hpp"

namespace lloyd::apps {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "lloyd-model";
constexpr int kVersion = 1;
// With a standardization. Programs that read version 1 only would ignore it, and mislabel samples.
constexpr int kStandardizedVersion = 2;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
  throw InputError(fmt::format("{}: {}", file.string(), what));
}

// Estimates the memory of the parsed JSON. A value takes 16 bytes, up to three times that while its
// list grows; each list has its own overhead.
double bytes_to_parse(std::string_view text) {
  constexpr double kBytesOfValue = 48;
  constexpr double kBytesOfList = 96;
  return static_cast<double>(text.size()) +
         kBytesOfValue * static_cast<double>(std::count(text.begin(), text.end(), ',')) +
         kBytesOfList * static_cast<double>(std::count(text.begin(), text.end(), '['));
}

Json parse(const std::filesystem::path& file, std::optional<std::uint64_t> memory) {
  constexpr int kMaxLevels = 4;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (!unknown) check_reading_memory(file.string(), static_cast<double>(size), memory);
  const std::string text = read_text_file(file);
  check_reading_memory(file.string(), bytes_to_parse(text), memory);
  try {
    return parse_json(text, kMaxLevels);
  } catch (const InputError& error) {
    refuse(file, fmt::format("is not a model file: {}", error.what()));
  }
}

// The value for a message.
std::string text_of(const Json& value) {
  return value.is_number() ? value.dump() : fmt::format("of type {}", value.type_name());
}

const Json& member(const std::filesystem::path& file, const Json& document, const char* key) {
  const auto found = document.find(key);
  if (found == document.end()) refuse(file, fmt::format("the model lacks '{}'", key));
  return *found;
}

std::int64_t count_member(const std::filesystem::path& file, const Json& document,
                          const char* key) {
  const Json& value = member(file, document, key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1) {
    refuse(file,
           fmt::format("the model's '{}' is {}, not a count of at least 1", key, text_of(value)));
  }
  return value.get<std::int64_t>();
}

std::vector<double> read_centroids(const std::filesystem::path& file, const Json& rows,
                                   std::int64_t clusters, std::int64_t features) {
  if (!rows.is_array() || static_cast<std::int64_t>(rows.size()) != clusters) {
    refuse(file, fmt::format("the model's 'centroids' is not a list of {} lists", clusters));
  }
  std::vector<double> centroids;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (!rows[c].is_array() || static_cast<std::int64_t>(rows[c].size()) != features) {
      refuse(file, fmt::format("the model's centroid {} is not a list of {} numbers", c, features));
    }
    for (const Json& value : rows[c]) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) {
        refuse(file, fmt::format("the model's centroid {} has a value {}, not a finite number", c,
                                 text_of(value)));
      }
      centroids.push_back(value.get<double>());
    }
  }
  return centroids;
}

std::vector<double> read_feature_values(const std::filesystem::path& file, const Json& map,
                                        const char* key, std::int64_t features, bool positive) {
  const auto found = map.is_object() ? map.find(key) : map.end();
  if (found == map.end() || !found->is_array() || std::ssize(*found) != features) {
    refuse(file, fmt::format("the model's 'standardization.{}' is not a list of {} numbers", key,
                             features));
  }
  std::vector<double> values;
  for (const Json& value : *found) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) ||
        (positive && value.get<double>() <= 0)) {
      refuse(file, fmt::format("the model's 'standardization.{}' has a value {}, not a finite "
                               "number{}",
                               key, text_of(value), positive ? " above 0" : ""));
    }
    values.push_back(value.get<double>());
  }
  return values;
}

Standardization read_standardization(const std::filesystem::path& file, const Json& map,
                                     std::int64_t features) {
  return {read_feature_values(file, map, "mean", features, false),
          read_feature_values(file, map, "deviation", features, true)};
}

// Reads the optional entries.
void read_origin(const Json& document, Model& model) {
  const experiment::JsonFields fields(document);
  model.inertia = std::nan("");
  if (document.contains("feature_names")) model.feature_names = fields.texts("feature_names");
  if (document.contains("inertia")) model.inertia = fields.number_or_nan("inertia", 0);
  if (document.contains("samples")) model.samples = fields.integer("samples", 0);
  if (document.contains("backend")) model.backend = fields.text("backend");
  if (!document.contains("seeding")) return;
  const experiment::JsonFields seeding = fields.object("seeding");
  if (document["seeding"].contains("method")) model.seeding_method = seeding.text("method");
  if (document["seeding"].contains("seed")) model.seed = seeding.seed("seed");
}

}  // namespace

void write_model(const std::filesystem::path& file, const Model& model) {
  Json document = {{"format", kFormat},
                   {"version", model.standardization ? kStandardizedVersion : kVersion},
                   {"clusters", model.clusters},
                   {"features", model.features},
                   {"feature_names", utf8_texts(model.feature_names)},
                   {"centroids", Json::array()},
                   {"inertia", model.inertia},
                   {"samples", model.samples},
                   {"backend", model.backend},
                   {"seeding", {{"method", model.seeding_method}, {"seed", model.seed}}}};
  for (std::int64_t c = 0; c < model.clusters; ++c) {
    const auto begin = model.centroids.begin() + c * model.features;
    document["centroids"].push_back(std::vector<double>(begin, begin + model.features));
  }

  if (model.standardization) {
    document["standardization"] = {{"mean", model.standardization->mean},
                                   {"deviation", model.standardization->deviation}};
  }

  NewFile output(file);
  output.write(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  output.commit();
}

Model read_model(const std::filesystem::path& file, std::optional<std::uint64_t> memory) {
  if (find_format(file)) {
    CentroidsFile rows = read_centroids(file, {memory, std::nullopt});
    Model model;
    model.clusters = rows.clusters;
    model.features = rows.features;
    model.feature_names = std::move(rows.feature_names);
    model.centroids = std::move(rows.centroids);
    model.inertia = std::nan("");
    return model;
  }
  const Json document = parse(file, memory);
  if (!document.is_object() || document.value("format", Json()) != Json(kFormat)) {
    refuse(file, fmt::format("is not a model file: its 'format' is not '{}'", kFormat));
  }
  const Json& version = member(file, document, "version");
  if (!version.is_number())
    refuse(file, fmt::format("the model's 'version' is {}, not a number", text_of(version)));
  if (version != Json(kVersion) && version != Json(kStandardizedVersion)) {
    refuse(file, fmt::format("is a model of version {}; this program reads versions {} and {}",
                             version.dump(), kVersion, kStandardizedVersion));
  }
  Model model;
  model.clusters = count_member(file, document, "clusters");
  model.features = count_member(file, document, "features");
  model.centroids =
      read_centroids(file, member(file, document, "centroids"), model.clusters, model.features);
  if (version == Json(kStandardizedVersion)) {
    model.standardization =
        read_standardization(file, member(file, document, "standardization"), model.features);
  }
  try {
    read_origin(document, model);
  } catch (const InputError& error) {
    refuse(file, fmt::format("the model has a wrong entry: {}", error.what()));
  }
  if (!model.feature_names.empty() && std::ssize(model.feature_names) != model.features) {
    refuse(file, fmt::format("the model's 'feature_names' are {}, but it has {} features",
                             model.feature_names.size(), model.features));
  }
  return model;
}

}  // namespace lloyd::apps

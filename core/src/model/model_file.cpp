#include <lloyd/internal/format_count.hpp>
#include <lloyd/model.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/json_text.hpp>
#include <lloyd/plugin/sdk/float_environment.hpp>

#include "model/require_centroids.hpp"

namespace lloyd {
namespace {

using ModelJson = nlohmann::ordered_json;

constexpr const char* kModelFormat = "lloyd-model";
constexpr int kModelVersion = 1;
// Models with a standardization: programs that know only version 1 would ignore it and mislabel
// samples.
constexpr int kStandardizedModelVersion = 2;

[[noreturn]] void refuse_model(const std::filesystem::path& file, const std::string& what) {
  throw InputError(fmt::format("{}: {}", file.string(), what));
}

// Estimates the memory of the parsed JSON. A value takes 16 bytes, up to three times that while its
// list grows; each list has its own overhead.
double bytes_to_parse_model(std::string_view text) {
  constexpr double kBytesOfValue = 48;
  constexpr double kBytesOfList = 96;
  return static_cast<double>(text.size()) +
         kBytesOfValue * static_cast<double>(std::count(text.begin(), text.end(), ',')) +
         kBytesOfList * static_cast<double>(std::count(text.begin(), text.end(), '['));
}

ModelJson parse_model(const std::filesystem::path& file,
                      const std::function<void(double bytes)>& check_memory) {
  constexpr int kMaxLevels = 4;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (!unknown && check_memory) check_memory(static_cast<double>(size));
  const std::string text = read_text_file(file);
  if (check_memory) check_memory(bytes_to_parse_model(text));
  try {
    return parse_json(text, kMaxLevels);
  } catch (const InputError& error) {
    refuse_model(file, fmt::format("is not a model file: {}", error.what()));
  }
}

// The value for a message.
std::string model_value_text(const ModelJson& value) {
  return value.is_number() ? value.dump() : fmt::format("of type {}", value.type_name());
}

const ModelJson& model_member(const std::filesystem::path& file, const ModelJson& document,
                              const char* key) {
  const auto found = document.find(key);
  if (found == document.end()) refuse_model(file, fmt::format("the model lacks '{}'", key));
  return *found;
}

std::int64_t model_count(const std::filesystem::path& file, const ModelJson& document,
                         const char* key) {
  const ModelJson& value = model_member(file, document, key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1) {
    refuse_model(file, fmt::format("the model's '{}' is {}, not a count of at least 1", key,
                                   model_value_text(value)));
  }
  return value.get<std::int64_t>();
}

std::vector<double> model_centroids(const std::filesystem::path& file, const ModelJson& rows,
                                    std::int64_t clusters, std::int64_t features) {
  if (!rows.is_array() || static_cast<std::int64_t>(rows.size()) != clusters) {
    refuse_model(file, fmt::format("the model's 'centroids' is not a list of {} lists", clusters));
  }
  std::vector<double> centroids;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    if (!rows[c].is_array() || static_cast<std::int64_t>(rows[c].size()) != features) {
      refuse_model(file,
                   fmt::format("the model's centroid {} is not a list of {} numbers", c, features));
    }
    for (const ModelJson& value : rows[c]) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) {
        refuse_model(file,
                     fmt::format("the model's centroid {} has a value {}, not a finite number", c,
                                 model_value_text(value)));
      }
      centroids.push_back(value.get<double>());
    }
  }
  return centroids;
}

std::vector<double> model_feature_values(const std::filesystem::path& file, const ModelJson& map,
                                         const char* key, std::int64_t features, bool positive) {
  const auto found = map.is_object() ? map.find(key) : map.end();
  if (found == map.end() || !found->is_array() || std::ssize(*found) != features) {
    refuse_model(file, fmt::format("the model's 'standardization.{}' is not a list of {} numbers",
                                   key, features));
  }
  std::vector<double> values;
  for (const ModelJson& value : *found) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) ||
        (positive && value.get<double>() <= 0)) {
      refuse_model(file,
                   fmt::format("the model's 'standardization.{}' has a value {}, not a finite "
                               "number{}",
                               key, model_value_text(value), positive ? " above 0" : ""));
    }
    values.push_back(value.get<double>());
  }
  return values;
}

Standardization model_standardization(const std::filesystem::path& file, const ModelJson& map,
                                      std::int64_t features) {
  return {model_feature_values(file, map, "mean", features, false),
          model_feature_values(file, map, "deviation", features, true)};
}

// Reads the optional entries.
void read_model_origin(const ModelJson& document, Model& model) {
  const JsonFields fields(document);
  model.inertia = std::nan("");
  if (document.contains("feature_names")) model.feature_names = fields.texts("feature_names");
  if (document.contains("inertia")) model.inertia = fields.number_or_nan("inertia", 0);
  if (document.contains("samples")) model.samples = fields.integer("samples", 0);
  if (document.contains("backend")) model.backend = fields.text("backend");
  if (!document.contains("seeding")) return;
  const JsonFields seeding = fields.object("seeding");
  if (seeding.contains("method")) model.seeding_method = seeding.text("method");
  if (seeding.contains("seed")) model.seed = seeding.seed("seed");
}

// Refuses what read_model_origin() refuses.
void check_origin(const Model& model) {
  if (model.inertia < 0) {
    throw InputError(fmt::format("the model cannot be saved: its inertia is {}, not a number >= 0",
                                 model.inertia));
  }
  if (model.samples < 0) {
    throw InputError(
        fmt::format("the model cannot be saved: its number of samples is {}, not an integer >= 0",
                    model.samples));
  }
}

}  // namespace

void Model::save(const std::filesystem::path& file) const {
  require_centroids(*this, "be saved");
  check_origin(*this);
  ModelJson document = {{"format", kModelFormat},
                        {"version", standardization ? kStandardizedModelVersion : kModelVersion},
                        {"clusters", clusters},
                        {"features", features},
                        {"feature_names", utf8_texts(feature_names)},
                        {"centroids", ModelJson::array()},
                        {"inertia", inertia},
                        {"samples", samples},
                        {"backend", backend},
                        {"seeding", {{"method", seeding_method}, {"seed", seed}}}};
  for (std::int64_t c = 0; c < clusters; ++c) {
    const auto begin = centroids.begin() + c * features;
    document["centroids"].push_back(std::vector<double>(begin, begin + features));
  }
  if (standardization) {
    document["standardization"] = {{"mean", standardization->mean},
                                   {"deviation", standardization->deviation}};
  }

  NewFile output(file);
  output.write(document.dump(-1, ' ', false, ModelJson::error_handler_t::replace) + "\n");
  output.commit();
}

Model Model::load(const std::filesystem::path& file,
                  const std::function<void(double bytes)>& check_memory) {
  const FloatEnvironment environment;
  const ModelJson document = parse_model(file, check_memory);
  if (!document.is_object() || document.value("format", ModelJson()) != ModelJson(kModelFormat)) {
    refuse_model(file, fmt::format("is not a model file: its 'format' is not '{}'", kModelFormat));
  }
  const ModelJson& version = model_member(file, document, "version");
  if (!version.is_number())
    refuse_model(
        file, fmt::format("the model's 'version' is {}, not a number", model_value_text(version)));
  if (version != ModelJson(kModelVersion) && version != ModelJson(kStandardizedModelVersion)) {
    refuse_model(file,
                 fmt::format("is a model of version {}; this program reads versions {} and {}",
                             version.dump(), kModelVersion, kStandardizedModelVersion));
  }
  Model model;
  model.clusters = model_count(file, document, "clusters");
  model.features = model_count(file, document, "features");
  model.centroids = model_centroids(file, model_member(file, document, "centroids"), model.clusters,
                                    model.features);
  if (version == ModelJson(kStandardizedModelVersion)) {
    model.standardization = model_standardization(
        file, model_member(file, document, "standardization"), model.features);
  }
  try {
    read_model_origin(document, model);
  } catch (const InputError& error) {
    refuse_model(file, fmt::format("the model has a wrong entry: {}", error.what()));
  }
  if (!model.feature_names.empty() && std::ssize(model.feature_names) != model.features) {
    refuse_model(file,
                 fmt::format("the model's 'feature_names' are {}, but it has {}",
                             model.feature_names.size(), format_count(model.features, "feature")));
  }
  return model;
}

}  // namespace lloyd

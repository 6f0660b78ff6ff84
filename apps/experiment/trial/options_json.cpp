#include "experiment/trial/options_json.hpp"

#include "text/names.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

void write_options(const FitOptions& options, ordered_json& json) {
  json["clusters"] = options.clusters;
  json["restarts"] = options.restarts;
  json["max_iterations"] = options.max_iterations;
  json["tolerance"] = options.tolerance;
  json["fixed_iterations"] = options.fixed_iterations;
  json["empty_clusters"] = apps::to_string(options.empty_clusters);
  json["profile"] = options.profile;
}

FitOptions read_options(const JsonFields& json) {
  FitOptions options;
  options.clusters = json.integer("clusters", 1);
  options.restarts = json.integer("restarts", 1);
  options.max_iterations = json.integer("max_iterations", 1);
  options.tolerance = json.number("tolerance", 0);
  options.fixed_iterations = json.boolean("fixed_iterations");
  options.empty_clusters = apps::parse_empty_clusters(json.text("empty_clusters"));
  options.profile = json.boolean("profile");
  return options;
}

std::map<std::string, std::string> read_texts(const JsonFields& json, std::string_view key) {
  std::map<std::string, std::string> texts;
  const JsonFields fields = json.object(key);
  for (const auto& [name, value] : json.object_json(key).items()) texts[name] = fields.text(name);
  return texts;
}

}  // namespace lloyd::experiment

#include "experiment/plan/setting_json.hpp"

#include <fmt/format.h>

#include "text/fnv1a.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

using nlohmann::ordered_json;

namespace {

std::string dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::string hash_json(const ordered_json& json) {
  apps::Fnv1a hash;
  const std::string text = dump(json);
  hash.add(text.data(), text.size());
  return hex(hash.value());
}

ordered_json source_json(const DatasetSetting& setting) {
  if (setting.blobs) {
    const BlobsSpec& blobs = *setting.blobs;
    ordered_json source = {{"blobs",
                            {{"samples", blobs.samples},
                             {"features", blobs.features},
                             {"centers", blobs.centers},
                             {"std", blobs.std},
                             {"box", blobs.box},
                             {"seed", blobs.seed}}}};
    if (setting.standardize) source["standardize"] = true;
    return source;
  }
  ordered_json source = {{"file", setting.file.string()}};
  const CsvOptions& csv = setting.csv;
  if (csv.delimiter) source["delimiter"] = std::string(1, *csv.delimiter);
  if (csv.header) source["header"] = *csv.header;
  if (!csv.columns.empty()) source["columns"] = csv.columns;
  if (!csv.drop_columns.empty()) source["drop_columns"] = csv.drop_columns;
  if (csv.drop_missing) source["drop_missing"] = true;
  if (!csv.missing.empty()) source["missing"] = csv.missing;
  if (csv.decimal_comma) source["decimal_comma"] = true;
  if (csv.thousands) source["thousands"] = std::string(1, *csv.thousands);
  if (!csv.label_column.empty()) source["label_column"] = csv.label_column;
  if (!setting.array_name.empty()) source["dataset"] = setting.array_name;
  if (setting.sampling.samples) source["samples"] = *setting.sampling.samples;
  if (setting.sampling.shuffle) source["shuffle"] = true;
  if (!setting.takes_all_rows()) source["seed"] = setting.sampling.seed;
  if (setting.standardize) source["standardize"] = true;
  return source;
}

ordered_json stop_json(const FitOptions& options) {
  if (options.fixed_iterations) return {{"iterations", options.max_iterations}};
  return {{"max_iterations", options.max_iterations}, {"tolerance", options.tolerance}};
}

std::string hash_setting(const Setting& setting, const DatasetFacts& dataset) {
  const FitOptions& options = setting.options;
  ordered_json source = source_json(setting.dataset);
  if (!setting.dataset.blobs) {
    // Only the file name: the same file in another folder gives the same setting.
    source = {{"file", setting.dataset.file.filename().string()},
              {"fingerprint", hex(dataset.fingerprint.value_or(0))}};
  }
  ordered_json definition = {{"dataset", source},
                             {"dtype", apps::to_string(dataset.dtype)},
                             {"clusters", options.clusters},
                             {"seeding", to_string(options.seeding.method)},
                             {"seed", options.seeding.seed},
                             {"restarts", options.restarts},
                             {"stop", stop_json(options)},
                             {"empty_clusters", apps::to_string(options.empty_clusters)},
                             {"profile", options.profile}};
  if (options.seeding.method == SeedingMethod::kmeans_parallel) {
    definition["oversampling"] = options.seeding.oversampling;
    definition["rounds"] = options.seeding.rounds;
  }
  // Absent by default: the hash is that of earlier versions.
  if (setting.cold_l2) definition["cold_l2"] = true;
  apps::Fnv1a hash;
  const std::string text = dump(definition);
  hash.add(text.data(), text.size());
  const std::vector<double>& centroids = options.seeding.centroids;
  hash.add(centroids.data(), centroids.size() * sizeof(double));
  return hex(hash.value());
}

}  // namespace lloyd::experiment

#include "experiment/plan/dataset_cache.hpp"

#include <utility>

#include <fmt/format.h>

#include <lloyd/data/files.hpp>
#include <lloyd/data/sample_rows.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/format_count.hpp>
#include <lloyd/internal/shell_word.hpp>
#include <lloyd/standardize.hpp>

#include "guards/data_guards.hpp"
#include "options/bounded_data.hpp"
#include "options/option_names.hpp"
#include "output/output.hpp"

namespace lloyd::experiment {
namespace {

Dataset make_dataset(const DatasetSetting& setting, const std::function<bool()>& stop) {
  FileOptions options{setting.csv, setting.array_name};
  options.csv.memory_limit = apps::text_memory();
  options.csv.stop = stop;
  try {
    return setting.blobs ? make_blobs(*setting.blobs, stop) : read_dataset(setting.file, options);
  } catch (const MissingValueError& error) {
    setting.place.fail(
        fmt::format("{}; 'lloyd data convert {} NEW.npy --drop-missing' leaves such rows out",
                    error.what(), shell_word(setting.file.string())));
  } catch (const InputError& error) {
    setting.place.fail(apps::with_key_names(error.what()));
  }
}

// Chooses samples and scales features as the setting says; `map` receives the scaling, if any.
Dataset prepare_dataset(Dataset dataset, const DatasetSetting& setting,
                        std::optional<Standardization>& map) {
  const std::int64_t wanted = setting.sampling.samples.value_or(1);
  if (wanted > dataset.samples()) {
    setting.samples_place.fail(fmt::format("'dataset.samples' is {}, but {} has {}", wanted,
                                           dataset.name(),
                                           format_count(dataset.samples(), "sample")));
  }
  if (!setting.takes_all_rows()) dataset = sample_rows(dataset, setting.sampling);
  try {
    if (!setting.standardize) return dataset;
    map = Standardization::of(dataset.statistics());
    return standardize(dataset);
  } catch (const InputError& error) {
    setting.place.fail(error.what());
  }
}

void warn_of_columns(const Dataset& dataset, const DatasetSetting& setting) {
  apps::DataOptions options;
  options.file = setting.file.string();
  options.columns = setting.csv.columns;
  for (const std::string& column : setting.csv.drop_columns) {
    // Names, which may contain commas, do not matter to column_of().
    if (column.find(',') == std::string::npos) options.drop_columns.push_back(column);
  }
  options.label_column = setting.csv.label_column;
  options.header = setting.csv.header == true;
  options.no_header = setting.csv.header == false;
  apps::note_warnings(
      apps::data_warnings(dataset, options, setting.standardize, apps::Remedy::key));
}

DatasetFacts facts_of(const Dataset& dataset) {
  DatasetFacts facts;
  facts.name = dataset.name();
  facts.samples = dataset.samples();
  facts.features = dataset.features();
  facts.stride = dataset.matrix().stride;
  facts.dtype = dataset.dtype();
  facts.required_capabilities = dataset.view().required_capabilities;
  facts.fingerprint = dataset.fingerprint();
  facts.feature_names = dataset.feature_names;
  return facts;
}

DatasetFacts facts_of(const BlobsSpec& blobs) {
  DatasetFacts facts;
  facts.name = "blobs";
  facts.samples = blobs.samples;
  facts.features = facts.stride = blobs.features;
  facts.dtype = blobs.dtype;
  facts.required_capabilities =
      kCapabilityHostMemory |
      (blobs.dtype == DType::float32 ? kCapabilityFloat32 : kCapabilityFloat64);
  return facts;
}

}  // namespace

std::shared_ptr<const Dataset> DatasetCache::get(const DatasetSetting& setting) {
  const std::string key = setting.key();
  if (last_ != nullptr && key == key_) return last_;
  last_.reset();
  Dataset made = make_dataset(setting, stop_);
  if (!setting.blobs && noted_.insert(setting.file_key()).second) {
    apps::note_dropped_rows(
        setting.file.string(), made.dropped_rows, made.samples(),
        apps::missing_columns(made.missing_counts, made.feature_names, [](std::int64_t feature) {
          return fmt::format("feature {}", feature);
        }));
    if (setting.csv.label_column.empty() && !made.classes.empty()) {
      apps::note("lloyd: {}: the last column, {}, is taken as classes\n", setting.file.string(),
                 apps::class_column_text(made));
    }
    warn_of_columns(made, setting);
  }
  std::optional<Standardization> map;
  last_ = std::make_shared<const Dataset>(prepare_dataset(std::move(made), setting, map));
  if (map) maps_.insert_or_assign(key, *map);
  key_ = key;
  return last_;
}

std::shared_ptr<const Dataset> DatasetCache::take(const DatasetSetting& setting) {
  get(setting);
  return std::move(last_);
}

DatasetFacts DatasetCache::facts(const DatasetSetting& setting) {
  if (setting.blobs) return facts_of(*setting.blobs);
  const std::string key = setting.key();
  const auto known = facts_.find(key);
  if (known != facts_.end()) return known->second;
  DatasetFacts facts = facts_of(*get(setting));
  const auto map = maps_.find(key);
  if (map != maps_.end()) facts.standardization = map->second;
  return facts_.emplace(key, std::move(facts)).first->second;
}

}  // namespace lloyd::experiment

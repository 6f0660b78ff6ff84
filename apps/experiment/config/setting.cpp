#include "experiment/config/setting.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/data/files.hpp>
#include <lloyd/error.hpp>

#include "experiment/yaml/config_values.hpp"

namespace lloyd::experiment {
namespace {

namespace fs = std::filesystem;

// Keeps sizes far from overflow; the core rejects products that overflow.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;
constexpr std::int64_t kMaxClusters = 2'147'483'647;  // labels are int32

// The path of `file` relative to `folder`, without "." and, where the path names the same file as
// the system's does, without "..": after a symbolic link, ".." is the parent of the link's target.
fs::path in_folder(const fs::path& folder, const std::string& file) {
  fs::path path = folder / file;
  fs::path before;
  for (const fs::path& part : path) {
    std::error_code ignored;
    if (part == ".." && fs::is_symlink(before, ignored)) return path;
    before /= part;
  }
  return path.lexically_normal();
}

BlobsSpec read_blobs(const ConfigNode& node) {
  const MapReader map(node, "dataset.blobs",
                      {"samples", "features", "centers", "std", "box", "seed"});
  BlobsSpec blobs;
  const auto count = [&](std::string_view key, std::int64_t& value) {
    if (const ConfigNode* given = map.find(key)) {
      value = read_integer(*given, map.path(key), 1, kMaxCount);
    }
  };
  const auto length = [&](std::string_view key, double& value) {
    if (const ConfigNode* given = map.find(key)) value = read_number(*given, map.path(key), 0);
  };
  count("samples", blobs.samples);
  count("features", blobs.features);
  count("centers", blobs.centers);
  length("std", blobs.std);
  length("box", blobs.box);
  if (const ConfigNode* seed = map.find("seed")) blobs.seed = read_seed(*seed, map.path("seed"));
  return blobs;
}

char read_delimiter(const ConfigNode& node, std::string_view what) {
  if (node.is_scalar() && node.text == "tab") return '\t';
  if (!node.is_scalar() || node.text.size() != 1 || node.text == "\n" || node.text == "\"") {
    // Without quotes, | begins a text of several lines.
    const bool bar = node.is_scalar() && node.text.empty();
    node.fail(fmt::format("'{}' must be one character, not {}{}", what, node.kind_text(),
                          bar ? "; | is written in quotes: '|'" : ""));
  }
  return node.text.front();
}

// `may_be_empty`: '' is an element, the name of a column without a name.
std::vector<std::string> read_columns(const ConfigNode& columns, const std::string& what,
                                      const char* elements = "column names or numbers",
                                      bool may_be_empty = false) {
  if (!columns.is_sequence() || columns.children.empty()) {
    columns.fail(fmt::format("'{}' must be a list of {}, not {}", what, elements,
                             columns.is_sequence() ? "an empty one" : columns.kind_text()));
  }
  std::vector<std::string> names;
  for (const ConfigNode& column : columns.children) {
    const bool is_empty = may_be_empty && column.is_scalar() && column.text.empty();
    names.push_back(is_empty ? std::string() : read_text(column, what));
  }
  return names;
}

CsvOptions read_csv_options(const MapReader& map) {
  CsvOptions csv;
  if (const ConfigNode* delimiter = map.find("delimiter")) {
    csv.delimiter = read_delimiter(*delimiter, map.path("delimiter"));
  }
  if (const ConfigNode* header = map.find("header")) {
    csv.header = read_boolean(*header, map.path("header"));
  }
  if (const ConfigNode* columns = map.find("columns")) {
    csv.columns = read_columns(*columns, map.path("columns"));
  }
  if (const ConfigNode* columns = map.find("drop_columns")) {
    if (!csv.columns.empty()) {
      columns->fail_at_key(fmt::format("'{}' cannot be combined with '{}'",
                                       map.path("drop_columns"), map.path("columns")));
    }
    csv.drop_columns =
        read_columns(*columns, map.path("drop_columns"), "column names or numbers", true);
  }
  if (const ConfigNode* drop = map.find("drop_missing")) {
    csv.drop_missing = read_boolean(*drop, map.path("drop_missing"));
  }
  if (const ConfigNode* missing = map.find("missing")) {
    csv.missing = read_columns(*missing, map.path("missing"), "texts");
  }
  if (const ConfigNode* comma = map.find("decimal_comma")) {
    csv.decimal_comma = read_boolean(*comma, map.path("decimal_comma"));
  }
  if (const ConfigNode* thousands = map.find("thousands")) {
    csv.thousands = read_delimiter(*thousands, map.path("thousands"));
  }
  if (const ConfigNode* label = map.find("label_column")) {
    csv.label_column = read_text(*label, map.path("label_column"));
  }
  return csv;
}

// Reads which samples of a file are used, and whether features are scaled.
void read_preparation(const MapReader& map, DatasetSetting& dataset) {
  const ConfigNode* samples = map.find("samples");
  const ConfigNode* shuffle = map.find("shuffle");
  const ConfigNode* seed = map.find("seed");
  for (const ConfigNode* given : {samples, shuffle, seed}) {
    if (given == nullptr || !dataset.blobs) continue;
    given->fail_at_key(
        fmt::format("'{}' is for files; blobs have 'dataset.blobs.samples' and "
                    "'dataset.blobs.seed'",
                    map.path(given->key)));
  }
  if (samples != nullptr) {
    dataset.sampling.samples = read_integer(*samples, map.path("samples"), 1, kMaxCount);
    dataset.samples_place = samples->place;
  }
  if (shuffle != nullptr) dataset.sampling.shuffle = read_boolean(*shuffle, map.path("shuffle"));
  if (seed != nullptr) dataset.sampling.seed = read_seed(*seed, map.path("seed"));
  if (const ConfigNode* given = map.find("standardize")) {
    dataset.standardize = read_boolean(*given, map.path("standardize"));
  }
}

// Refuses the name of a file in place of the map that holds it.
void refuse_file_name(const ConfigNode& node) {
  if (!node.is_scalar() || node.text.find_first_of("./") == std::string::npos) return;
  const bool is_plain = node.text.find_first_of(" ,:#{}[]&*!|>'\"%@`") == std::string::npos;
  node.fail(fmt::format("'dataset' must be a map, not {}; 'dataset: {{file: {}}}' names a file",
                        node.kind_text(), is_plain ? node.text : "\"FILE\""));
}

DatasetSetting read_dataset_setting(const ConfigNode& node, const fs::path& folder) {
  const std::vector<std::string> text_keys = {"delimiter",     "header",       "columns",
                                              "drop_columns",  "drop_missing", "missing",
                                              "decimal_comma", "thousands",    "label_column"};
  refuse_file_name(node);
  const MapReader map(node, "dataset",
                      {"blobs", "file", "dataset", "dtype", "delimiter", "header", "columns",
                       "drop_columns", "drop_missing", "missing", "decimal_comma", "thousands",
                       "label_column", "samples", "shuffle", "seed", "standardize"});
  const ConfigNode* blobs = map.find("blobs");
  const ConfigNode* file = map.find("file");
  if (blobs == nullptr && file == nullptr) node.fail("'dataset' needs 'blobs' or 'file'");
  if (blobs != nullptr && file != nullptr) {
    file->fail_at_key("'dataset' has both 'blobs' and 'file'; one is allowed");
  }

  DatasetSetting dataset;
  DType dtype = DType::float32;
  if (const ConfigNode* given = map.find("dtype")) {
    dtype = read_choice(*given, map.path("dtype"), {"float32", "float64"}) == 0 ? DType::float32
                                                                                : DType::float64;
  }
  bool text_file = false;
  bool hdf5_file = false;
  if (file != nullptr) {
    dataset.file = in_folder(folder, read_text(*file, map.path("file")));
    dataset.place = file->place;
    // A file of unknown format is rejected when it is read.
    const FileFormat format = find_format(dataset.file).value_or(FileFormat::csv);
    text_file = format == FileFormat::csv;
    hdf5_file = format == FileFormat::hdf5 || format == FileFormat::npz;
  } else {
    dataset.blobs = read_blobs(*blobs);
    dataset.blobs->dtype = dtype;
    try {
      check_blobs(*dataset.blobs);
    } catch (const InputError& error) {
      blobs->fail(error.what());
    }
    dataset.place = blobs->place;
  }
  for (const std::string& key : text_keys) {
    const ConfigNode* given = map.find(key);
    if (given != nullptr && !text_file) {
      const bool is_selection = key.find("columns") != std::string::npos || key == "drop_missing";
      given->fail_at_key(fmt::format(
          "'{}' is for text files only{}", map.path(key),
          is_selection ? "; 'lloyd data convert' has this option for other files too" : ""));
    }
  }
  if (file != nullptr && !text_file && map.find("dtype") != nullptr) {
    map.find("dtype")->fail_at_key(
        fmt::format("'dataset.dtype' is not for {} files, which have their own",
                    dataset.file.extension().string()));
  }
  if (const ConfigNode* name = map.find("dataset")) {
    if (!hdf5_file) name->fail_at_key("'dataset.dataset' is for HDF5 and .npz files only");
    dataset.array_name = read_text(*name, map.path("dataset"));
  }
  if (text_file) {
    dataset.csv = read_csv_options(map);
    dataset.csv.dtype = dtype;
  }
  read_preparation(map, dataset);
  return dataset;
}

Seeding read_seeding(const ConfigNode& node, const fs::path& folder) {
  const MapReader map(node, "seeding", {"method", "seed", "file", "oversampling", "rounds"});
  Seeding seeding;
  const ConfigNode* method = map.find("method");
  const ConfigNode* file = map.find("file");
  if (method != nullptr) {
    const std::string name = read_text(*method, map.path("method"));
    try {
      seeding.method = parse_seeding_method(name);
    } catch (const InputError& error) {
      if (!fs::path(name).has_extension()) method->fail(error.what());
      method->fail(
          fmt::format("'{0}' is not a seeding method; a file of centroids or a model is "
                      "given as 'seeding: {{file: {0}}}'",
                      name));
    }
    if ((seeding.method == SeedingMethod::file) != (file != nullptr)) {
      method->fail(file == nullptr
                       ? "'seeding.method' is file, but 'seeding.file' is not given"
                       : fmt::format("'seeding.method' is {}, but 'seeding.file' is given", name));
    }
  }
  if (file != nullptr) {
    seeding.method = SeedingMethod::file;
    seeding.file = in_folder(folder, read_text(*file, map.path("file"))).string();
  }
  if (const ConfigNode* seed = map.find("seed")) seeding.seed = read_seed(*seed, map.path("seed"));
  for (const char* key : {"oversampling", "rounds"}) {
    if (map.find(key) == nullptr || seeding.method == SeedingMethod::kmeans_parallel) continue;
    map.find(key)->fail_at_key(fmt::format("'seeding.{}' is for the method k-means||, not {}", key,
                                           to_string(seeding.method)));
  }
  if (const ConfigNode* oversampling = map.find("oversampling")) {
    seeding.oversampling = read_number(*oversampling, map.path("oversampling"), 0);
    try {
      check_seeding(seeding);
    } catch (const InputError& error) {
      oversampling->fail(error.what());
    }
  }
  if (const ConfigNode* rounds = map.find("rounds")) {
    seeding.rounds = read_integer(*rounds, map.path("rounds"), 1, kMaxRounds);
  }
  return seeding;
}

void read_stop(const ConfigNode& node, FitOptions& options) {
  const MapReader map(node, "stop", {"max_iterations", "tolerance", "iterations"});
  if (const ConfigNode* iterations = map.find("iterations")) {
    for (const char* other : {"max_iterations", "tolerance"}) {
      if (map.find(other) == nullptr) continue;
      map.find(other)->fail_at_key(fmt::format(
          "'stop.{}' cannot be combined with 'stop.iterations', which runs exactly that many",
          other));
    }
    options.max_iterations = read_integer(*iterations, map.path("iterations"), 1);
    options.fixed_iterations = true;
    return;
  }
  if (const ConfigNode* maximum = map.find("max_iterations")) {
    options.max_iterations = read_integer(*maximum, map.path("max_iterations"), 1);
  }
  if (const ConfigNode* tolerance = map.find("tolerance")) {
    options.tolerance = read_number(*tolerance, map.path("tolerance"), 0);
  }
}

// Reads k, or takes that of the data set: `clusters: centers`.
std::int64_t read_clusters(const ConfigNode& node, const DatasetSetting& dataset) {
  if (!node.is_scalar() || node.text != "centers") {
    return read_integer(node, "clusters", 1, kMaxClusters);
  }
  if (!dataset.blobs) {
    node.fail("'clusters: centers' needs 'dataset.blobs'; 'dataset' is a file");
  }
  return dataset.blobs->centers;
}

}  // namespace

std::string DatasetSetting::key() const {
  if (blobs) {
    return fmt::format("blobs {} {} {} {} {} {} {} {}", blobs->samples, blobs->features,
                       blobs->centers, blobs->std, blobs->box, blobs->seed, size_of(blobs->dtype),
                       standardize);
  }
  return fmt::format("{} {} {} {} {}", file_key(), sampling.samples.value_or(0), sampling.shuffle,
                     sampling.seed, standardize);
}

std::string DatasetSetting::file_key() const {
  const char* header = csv.header ? (*csv.header ? "header" : "none") : "auto";
  return fmt::format("file {:?} {} {} {} {:?} {} {} {} {:?} {} {:?} {}", file.string(),
                     csv.delimiter.value_or('\0'), header, fmt::join(csv.columns, "\n"),
                     fmt::format("{}", csv.drop_columns), csv.drop_missing, csv.decimal_comma,
                     csv.thousands.value_or('\0'), csv.label_column, size_of(csv.dtype), array_name,
                     fmt::format("{}", fmt::join(csv.missing, "\n")));
}

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys = {"dataset", "clusters",       "seeding", "restarts",
                                                "stop",    "empty_clusters", "profile", "cold_l2"};
  return keys;
}

void expand_seeding(ConfigNode& document) {
  for (ConfigNode& child : document.children) {
    if (child.key != "seeding" || !child.is_scalar()) continue;
    ConfigNode method = child;
    method.key = "method";
    child.kind = ConfigNode::Kind::map;
    child.text.clear();
    child.children = {std::move(method)};
  }
}

bool sets_path(const std::string& key, const ConfigNode& value, std::string_view path) {
  if (path.size() <= key.size()) return true;
  if (value.is_scalar()) return key == "seeding" && path == "seeding.method";
  const std::string_view rest = path.substr(key.size() + 1);
  const std::string name(rest.substr(0, rest.find('.')));
  const ConfigNode* const child = value.find(name);
  return child != nullptr && sets_path(key + "." + name, *child, path);
}

Setting read_setting(const ConfigNode& document, const fs::path& folder) {
  const auto find = [&](std::string_view key) {
    const ConfigNode* node = document.find(key);
    if (node != nullptr && node->is_null()) {
      node->fail_at_key(fmt::format("'{}' has no value", key));
    }
    return node;
  };
  Setting setting;
  FitOptions& options = setting.options;
  const ConfigNode* dataset = find("dataset");
  if (dataset == nullptr) document.fail("'dataset' is missing");
  setting.dataset = read_dataset_setting(*dataset, folder);
  setting.clusters_place = setting.seeding_place = dataset->place;
  if (const ConfigNode* clusters = find("clusters")) {
    options.clusters = read_clusters(*clusters, setting.dataset);
    setting.clusters_place = clusters->place;
  }
  if (const ConfigNode* seeding = find("seeding")) {
    options.seeding = read_seeding(*seeding, folder);
    setting.seeding_place = seeding->place;
  }
  if (const ConfigNode* restarts = find("restarts")) {
    options.restarts = read_integer(*restarts, "restarts", 1, 1'000'000);
  }
  if (const ConfigNode* stop = find("stop")) read_stop(*stop, options);
  if (const ConfigNode* policy = find("empty_clusters")) {
    options.empty_clusters = static_cast<EmptyClusters>(
        read_choice(*policy, "empty_clusters", {"relocate", "keep", "error"}));
  }
  if (const ConfigNode* profile = find("profile")) {
    options.profile = read_boolean(*profile, "profile");
  }
  if (const ConfigNode* cold = find("cold_l2")) {
    setting.cold_l2 = read_boolean(*cold, "cold_l2");
  }
  return setting;
}

}  // namespace lloyd::experiment

#include "experiment/ranks/rank_job.hpp"

#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/json_text.hpp>

#include "experiment/trial/options_json.hpp"
#include "text/names.hpp"

namespace lloyd::experiment {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

void write_file(const fs::path& file, std::string_view bytes) {
  NewFile output(file);
  output.write(bytes);
  output.commit();
}

void write_json(const fs::path& file, const ordered_json& json) {
  write_file(file, json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json read_json(const fs::path& file) {
  ordered_json json = ordered_json::parse(read_text_file(file), nullptr, false);
  if (!json.is_object()) throw Error(fmt::format("{} holds no JSON object", file.string()));
  return json;
}

ordered_json blobs_json(const BlobsSpec& blobs) {
  return {{"samples", blobs.samples}, {"features", blobs.features}, {"centers", blobs.centers},
          {"std", blobs.std},         {"box", blobs.box},           {"seed", blobs.seed}};
}

BlobsSpec read_blobs(const JsonFields& json, DType dtype) {
  BlobsSpec blobs;
  blobs.samples = json.integer("samples", 1);
  blobs.features = json.integer("features", 1);
  blobs.centers = json.integer("centers", 1);
  blobs.std = json.number("std", 0);
  blobs.box = json.number("box", 0);
  blobs.seed = json.seed("seed");
  blobs.dtype = dtype;
  return blobs;
}

template <class Value>
std::vector<Value> read_last(const fs::path& file, std::int64_t count) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  const auto bytes = static_cast<std::streamoff>(values.size() * sizeof(Value));
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(-bytes, std::ios::end);
  stream.read(reinterpret_cast<char*>(values.data()), bytes);
  if (!stream) throw Error(fmt::format("{} does not hold {} values", file.string(), count));
  return values;
}

}  // namespace

void write_job(const fs::path& file, const RankJob& job) {
  ordered_json json;
  json["ranks"] = job.ranks;
  json["plugin_folders"] = ordered_json::array();
  for (const fs::path& folder : job.plugin_folders) {
    json["plugin_folders"].push_back(folder.string());
  }
  json["plugin"] = job.plugin;
  json["parameters"] = job.parameters;
  json["identity"] = job.identity;
  json["blobs"] = job.blobs ? blobs_json(*job.blobs) : ordered_json(nullptr);
  json["file"] = job.file.string();
  json["array_name"] = job.array_name;
  json["samples"] = job.samples;
  json["features"] = job.features;
  json["dtype"] = apps::to_string(job.dtype);
  write_options(job.options, json);
  write_json(file, json);
}

RankJob read_job(const fs::path& file) {
  const ordered_json object = read_json(file);
  const JsonFields json(object);
  RankJob job;
  job.ranks = json.integer("ranks", 1);
  for (const std::string& folder : json.texts("plugin_folders")) {
    job.plugin_folders.emplace_back(folder);
  }
  job.plugin = json.text("plugin");
  job.parameters = read_texts(json, "parameters");
  job.identity = read_texts(json, "identity");
  job.dtype = apps::parse_dtype(json.text("dtype"));
  if (!json.is_null("blobs")) job.blobs = read_blobs(json.object("blobs"), job.dtype);
  job.file = json.text("file");
  job.array_name = json.text("array_name");
  job.samples = json.integer("samples", 1);
  job.features = json.integer("features", 1);
  job.options = read_options(json);
  return job;
}

void write_result(const fs::path& file, const RankResult& result) {
  ordered_json json = to_json(result.fit);
  json["warm_up_inertia"] = result.warm_up_inertia;
  json["process"] = to_json(result.process);
  apps::add_rank_times(json, result.times);
  write_json(file, json);
}

RankResult read_result(const fs::path& file) {
  const ordered_json object = read_json(file);
  const JsonFields json(object);
  RankResult result;
  result.fit = measurements_from_json(json);
  result.warm_up_inertia = json.number("warm_up_inertia", 0);
  result.process = process_from_json(json.object("process"));
  const auto times = apps::rank_times_from_json(json);
  if (!times) json.fail("hosts", "a list of names");
  result.times = *times;
  return result;
}

void write_values(const fs::path& file, const std::vector<double>& values) {
  write_file(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

std::vector<double> read_values(const fs::path& file, std::int64_t count) {
  return read_last<double>(file, count);
}

std::vector<std::int32_t> read_labels(const fs::path& file, std::int64_t count) {
  return read_last<std::int32_t>(file, count);
}

}  // namespace lloyd::experiment

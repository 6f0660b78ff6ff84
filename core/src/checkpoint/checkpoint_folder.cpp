#include "checkpoint/checkpoint_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lloyd/data/new_file.hpp>
#include <lloyd/data/npy.hpp>
#include <lloyd/error.hpp>
#include <lloyd/fit/checkpoint.hpp>
#include <lloyd/internal/descriptors.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/json_text.hpp>

#include "dataset/fingerprint.hpp"

namespace lloyd {
namespace {

namespace fs = std::filesystem;
using CheckpointJson = nlohmann::ordered_json;

constexpr const char* kCheckpointFormat = "lloyd-checkpoint";
constexpr int kCheckpointVersion = 1;
constexpr const char* kCheckpointFile = "checkpoint.json";
constexpr const char* kCentroidsPrefix = "checkpoint-centroids-";
constexpr const char* kBestPrefix = "checkpoint-best-";

// A condition of the fit for a message.
std::string describe_condition(const std::string& key, const CheckpointJson& value) {
  const bool any = key == "backend" && value == CheckpointJson(kCanonicalBackends);
  return any ? "any backend with canonical results" : value.dump();
}

std::string slot_file(const char* prefix, int slot) {
  return fmt::format("{}{}.npy", prefix, slot);
}

// Waits until a file, or the names in a folder, have reached the disk.
void flush_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Some file systems cannot flush folders.
  const bool flushed = descriptor >= 0 && (::fsync(descriptor) == 0 || errno == EINVAL);
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!flushed) {
    throw Error(
        fmt::format("{} cannot be flushed to disk: {}", path.string(), descriptor_error(error)));
  }
}

}  // namespace

bool has_checkpoint(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kCheckpointFile, error);
}

std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  // The description first: without it, the other files are no checkpoint.
  std::vector<fs::path> files = {folder / kCheckpointFile};
  for (const char* prefix : {kCentroidsPrefix, kBestPrefix}) {
    for (const int slot : {0, 1}) files.push_back(folder / slot_file(prefix, slot));
  }
  return files;
}

void remove_checkpoint(const fs::path& folder) {
  for (const fs::path& file : checkpoint_files(folder)) {
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      throw Error(fmt::format("{} cannot be removed: {}", file.string(), error.message()));
    }
  }
}

CheckpointFolder::CheckpointFolder(fs::path folder, CheckpointJson problem)
    : folder_(std::move(folder)),
      problem_(std::move(problem)),
      clusters_(problem_.at("clusters").get<std::int64_t>()),
      features_(problem_.at("features").get<std::int64_t>()) {}

void CheckpointFolder::refuse(const std::string& what) const {
  throw InputError(fmt::format("{}: {}", (folder_ / kCheckpointFile).string(), what));
}

std::uint64_t CheckpointFolder::hash_of(const std::vector<double>& centroids) const {
  Fingerprint fingerprint(clusters_, features_, DType::float64);
  fingerprint.add(centroids.data(), features_, clusters_);
  return fingerprint.value();
}

CheckpointFolder::Array CheckpointFolder::write_array(const char* prefix,
                                                      const std::optional<Array>& former,
                                                      const std::vector<double>& values) const {
  Array array{slot_file(prefix, 0), hash_of(values)};
  if (former && former->file == array.file) array.file = slot_file(prefix, 1);
  write_npy(folder_ / array.file, values, features_);
  flush_to_disk(folder_ / array.file);
  return array;
}

void CheckpointFolder::save(const FitState& state, const Fit* best) {
  const auto array_json = [](const std::optional<Array>& array) {
    if (!array) return CheckpointJson();
    return CheckpointJson{{"file", array->file}, {"hash", fmt::format("{:016x}", array->hash)}};
  };
  std::optional<Array> centroids, best_centroids;
  if (!state.centroids.empty()) {
    centroids = write_array(kCentroidsPrefix, centroids_, state.centroids);
  }
  CheckpointJson best_json;
  if (best != nullptr) {
    best_centroids =
        best->restart == best_restart_ ? best_ : write_array(kBestPrefix, best_, best->centroids);
    best_json = {{"restart", best->restart},
                 {"iterations", best->result.iterations},
                 {"relocations", best->result.relocations},
                 {"stop_reason", static_cast<int>(best->result.stop_reason)},
                 {"sum_form", static_cast<int>(best->result.sum_form)},
                 {"notes", utf8_text(best->notes)},
                 {"seeding_backend", utf8_text(best->seeding_backend)},
                 {"centroids", array_json(best_centroids)}};
  }
  const CheckpointJson document = {{"format", kCheckpointFormat},
                                   {"version", kCheckpointVersion},
                                   {"fit", problem_},
                                   {"restart", state.restart},
                                   {"iterations", state.iterations},
                                   {"relocations", state.relocations},
                                   {"seeding_backend", utf8_text(state.seeding_backend)},
                                   {"centroids", array_json(centroids)},
                                   {"best", best_json}};
  flush_to_disk(folder_);  // the names of the new files, before the one that refers to them
  NewFile output(folder_ / kCheckpointFile);
  output.write(document.dump(2) + "\n");
  output.commit();
  flush_to_disk(folder_ / kCheckpointFile);  // commit() flushes only what replaces a file
  // The former files are not overwritten before the next save.
  centroids_ = centroids;
  best_ = best_centroids;
  best_restart_ = best == nullptr ? -1 : best->restart;
  flush_to_disk(folder_);
}

void CheckpointFolder::check_problem(const CheckpointJson& stored) const {
  for (const auto& [key, value] : problem_.items()) {
    const CheckpointJson other = stored.value(key, CheckpointJson());
    if (other == value) continue;
    if (key == "values") refuse("it belongs to a fit of other samples: their values differ");
    refuse(fmt::format("it belongs to another fit: '{}' is {} there and {} here", key,
                       describe_condition(key, other), describe_condition(key, value)));
  }
}

std::vector<double> CheckpointFolder::read_array(const JsonFields& json,
                                                 std::optional<Array>& array) const {
  const std::string file = json.text("file");
  const fs::path path = folder_ / file;
  const auto files = checkpoint_files(folder_);
  if (std::find(files.begin() + 1, files.end(), path) == files.end()) {
    json.fail("file", "a file of this checkpoint");
  }
  const Matrix matrix = read_npy(path);
  if (matrix.rows != clusters_ || matrix.columns != features_ || matrix.dtype != DType::float64 ||
      matrix.stride != features_) {
    throw InputError(fmt::format("{} does not have {} x {} float64 values", path.string(),
                                 clusters_, features_));
  }
  const auto* values = static_cast<const double*>(matrix.data);
  std::vector<double> centroids(values, values + clusters_ * features_);
  array = Array{file, hash_of(centroids)};
  if (fmt::format("{:016x}", array->hash) != json.hash("hash")) {
    throw InputError(fmt::format("{} has changed since it was written", path.string()));
  }
  return centroids;
}

CheckpointContent CheckpointFolder::parse(const CheckpointJson& document) {
  const JsonFields fields(document);
  CheckpointContent content;
  FitState& state = content.state;
  state.restart = fields.integer("restart", 0);
  state.iterations = fields.integer("iterations", 0);
  state.relocations = fields.integer("relocations", 0);
  state.seeding_backend = fields.text("seeding_backend");
  if (!fields.is_null("centroids")) {
    state.centroids = read_array(fields.object("centroids"), centroids_);
  } else if (state.iterations > 0) {
    fields.fail("iterations", "0, as there are no centroids");
  }
  if (fields.is_null("best")) {
    if (state.restart > 0) fields.fail("best", "an object");
    return content;
  }
  const JsonFields json = fields.object("best");
  Fit& best = content.best.emplace();
  if (state.restart == 0) fields.fail("restart", "above 0, as there is a best restart");
  best.restart = json.integer("restart", 0, state.restart - 1);
  best.result.iterations = json.integer("iterations", 1);
  best.result.relocations = json.integer("relocations", 0);
  best.result.stop_reason = static_cast<StopReason>(json.integer("stop_reason", 1, 3));
  best.result.sum_form = static_cast<SumForm>(json.integer("sum_form", 0, 2));
  best.notes = json.text("notes");
  best.seeding_backend = json.text("seeding_backend");
  best.centroids = read_array(json.object("centroids"), best_);
  best_restart_ = best.restart;
  return content;
}

CheckpointContent CheckpointFolder::load() {
  constexpr int kMaxLevels = 3;
  CheckpointJson document;
  try {
    document = parse_json(read_text_file(folder_ / kCheckpointFile), kMaxLevels);
  } catch (const InputError& error) {
    refuse(fmt::format("the checkpoint is damaged: {}", error.what()));
  }
  if (!document.is_object() ||
      document.value("format", CheckpointJson()) != CheckpointJson(kCheckpointFormat)) {
    refuse(fmt::format("it is not a checkpoint: 'format' is not '{}'", kCheckpointFormat));
  }
  if (document.value("version", CheckpointJson()) != CheckpointJson(kCheckpointVersion)) {
    refuse(fmt::format("its version is not {}, which this program reads", kCheckpointVersion));
  }
  const auto problem = document.find("fit");
  if (problem == document.end() || !problem->is_object()) {
    refuse("the checkpoint is damaged: 'fit' is not an object");
  }
  check_problem(*problem);
  try {
    return parse(document);
  } catch (const InputError& error) {
    refuse(fmt::format("the checkpoint is damaged: {}", error.what()));
  }
}

}  // namespace lloyd

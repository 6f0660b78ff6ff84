// CheckpointFolder: the files of a checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/fit_state.hpp"

namespace lloyd {

class JsonFields;

/// The condition `backend` of a fit that any canonical backend may continue.
inline constexpr const char* kCanonicalBackends = "canonical";

/// Reads and replaces the checkpoint in a folder.
class CheckpointFolder {
 public:
  /// `problem`: an object of scalars that describes the fit; a checkpoint with others is refused.
  /// It has the numbers `clusters` and `features`.
  CheckpointFolder(std::filesystem::path folder, nlohmann::ordered_json problem);

  /// Replaces the checkpoint. `best` may be null. Throws Error or InputError if the files cannot be
  /// written; the former checkpoint then remains.
  void save(const FitState& state, const Fit* best);

  /// Reads the checkpoint. Throws InputError if it is damaged or belongs to another problem.
  CheckpointContent load();

 private:
  // An .npy file of centroids.
  struct Array {
    std::string file;
    std::uint64_t hash = 0;
  };

  Array write_array(const char* prefix, const std::optional<Array>& former,
                    const std::vector<double>& values) const;
  std::vector<double> read_array(const JsonFields& json, std::optional<Array>& array) const;
  void check_problem(const nlohmann::ordered_json& stored) const;
  std::uint64_t hash_of(const std::vector<double>& centroids) const;
  CheckpointContent parse(const nlohmann::ordered_json& document);
  [[noreturn]] void refuse(const std::string& what) const;

  std::filesystem::path folder_;
  nlohmann::ordered_json problem_;
  std::int64_t clusters_;
  std::int64_t features_;
  // The files of the current checkpoint. New centroids go to another file.
  std::optional<Array> centroids_, best_;
  std::int64_t best_restart_ = -1;  // whose centroids are in best_
};

}  // namespace lloyd

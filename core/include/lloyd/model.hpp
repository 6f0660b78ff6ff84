// Model: the centroids of a fit and their origin. Labels new samples, is saved to a file and read
// back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <lloyd/backend_choice.hpp>
#include <lloyd/dataset.hpp>
#include <lloyd/standardize.hpp>

namespace lloyd {

/// The part of a fit's result that labels other samples. `lloyd fit` writes the same files as
/// save(), and `lloyd predict` reads them. The file is one JSON object:
///
///     {"format": "lloyd-model", "version": 1, or 2 with "standardization", "clusters": k,
///      "features": d, "feature_names": [d texts] or [], "centroids": k lists of d numbers,
///      "standardization": {"mean": d numbers, "deviation": d numbers above 0}, if any,
///      "inertia": number or null, "samples": n, "backend": name,
///      "seeding": {"method", "seed"}}
///
/// Numbers have the shortest digits that read back to the same bits. The entries after
/// "standardization" record the origin; labelling does not need them.
///
/// In addition to what they state, the functions throw std::bad_alloc if host memory is exhausted;
/// see Error.
struct Model {
  std::int64_t clusters = 0;      ///< k
  std::int64_t features = 0;      ///< d
  std::vector<double> centroids;  ///< k x d, row-major
  /// The map of the samples before the fit, if they were standardized: centroids and inertia are
  /// then in standard deviations.
  std::optional<Standardization> standardization = std::nullopt;
  std::vector<std::string> feature_names;  ///< d names, or none
  /// Inertia of the clustered samples, in their squared unit; NaN if unknown.
  double inertia = std::numeric_limits<double>::quiet_NaN();
  std::int64_t samples = 0;  ///< n of the clustered data set; 0 if unknown
  std::string backend;       ///< name of the backend that fitted; empty if unknown
  /// Name of Seeding::method; "file" also for centroids given to BackendSession::fit_from(); empty
  /// if unknown.
  std::string seeding_method;
  std::uint64_t seed = 0;  ///< as Seeding::seed

  /// The centroids, k x d, in the unit of the samples that were given to the fit. Throws InputError
  /// for a standardization of another number of features.
  std::vector<double> centroids_in_data_units() const;

  /// The labels of n x d float32 samples, row-major without gaps: for each the index of its nearest
  /// centroid, to the accuracy of the backend. Samples are in host memory and only read. Throws
  /// InputError for n < 1, a null pointer, values that are not finite and a model without
  /// centroids, what load_backend() throws, and BackendError for an error of the backend.
  std::vector<std::int32_t> predict(const float* values, std::int64_t n,
                                    const BackendChoice& choice = {}) const;
  /// The same for float64 samples.
  std::vector<std::int32_t> predict(const double* values, std::int64_t n,
                                    const BackendChoice& choice = {}) const;
  /// The same for samples of any row stride. Throws InputError too if their number of features is
  /// not d, and for the matrix of a data set that is read in blocks, which has no values:
  /// BackendSession::label() labels that.
  std::vector<std::int32_t> predict(const Matrix& matrix, const BackendChoice& choice = {}) const;

  /// Writes the model to a file; its extension should be .json. An existing file is replaced only
  /// once the new one is complete. Feature names that are not UTF-8 are written as if they were
  /// Latin-1. Throws InputError, and leaves an existing file as it is, if the model has no
  /// centroids, as after a fit that was cancelled during seeding, or values that load() refuses,
  /// and if the path is empty or no file can be created there; throws Error if the file cannot be
  /// written.
  void save(const std::filesystem::path& file) const;

  /// Reads a file that save() or `lloyd fit` wrote, with this or an earlier version. Throws
  /// InputError, naming the file, unless it is a complete model with finite centroids and either no
  /// feature names or one for each feature. `check_memory`, if not empty, is called with the bytes
  /// that reading takes before they are allocated, and may throw.
  static Model load(const std::filesystem::path& file,
                    const std::function<void(double bytes)>& check_memory = {});
};

}  // namespace lloyd

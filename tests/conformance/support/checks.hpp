// Invariants of docs/architecture.md, "What a fit means", recomputed in float64 from a backend's
// output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/support/trial.hpp"

namespace lloyd::conformance {

/// Checks labels to the declared accuracy. `exact`: no label differs from the definition. Otherwise
/// the squared distance to the labelled centroid exceeds the smallest one by at most (d + 8) u R^2,
/// where R is the diagonal of the data's bounding box, and u = 2^-22 for float32, 2^-9 for tf32 and
/// half.
void check_labels(const Context& context, const std::string& where, const Samples& samples,
                  const std::vector<double>& centroids, const std::vector<std::int32_t>& labels);

/// Checks that each centroid is the mean of the samples whose `members` entry names it, within 2
/// units in the last place (of the data type) of the largest |x_ij| among them, for each feature j.
void check_means(const std::string& where, const Samples& samples, DType dtype,
                 const std::vector<std::int32_t>& members, const std::vector<double>& centroids);

/// Checks that the inertia matches labels and centroids, within a relative 1e-12.
void check_inertia(const std::string& where, const Samples& samples,
                   const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                   double inertia);

void check_counts(const std::string& where, const std::vector<std::int32_t>& labels,
                  const std::vector<std::int64_t>& counts);

/// Checks that every iteration record follows from the one before: labels, changed, inertia,
/// relocations, means, kept centroids, shift; and that the inertia of exact labels never increases
/// (by a relative 1e-12).
void check_trace(const Context& context, const std::string& where, const Samples& samples,
                 const Setting& setting, const Trial& trial);

/// Checks that the elapsed time never decreases from one iteration record to the next.
void check_times(const std::string& where, const Trial& trial);

/// Checks that the fit stopped at the iteration and for the reason that the stop rules require.
void check_stop(const std::string& where, const Setting& setting, const Trial& trial);

/// Checks that labels, counts and inertia are valid and belong to the returned centroids.
void check_closing(const Context& context, const std::string& where, const Samples& samples,
                   const Trial& trial);

/// Describes a problem in messages: "n=5 d=3 k=2 'name'".
std::string describe(const char* name, const Samples& samples, const Setting& setting);

/// Runs a fit with full observation and applies all checks above; fits of canonical backends are
/// compared with the reference bit for bit. Empty clusters are kept if the backend does not support
/// their relocation. Returns false, without running it, if the backend does not support the fit.
bool verify_fit(const Context& context, const char* name, const Samples& samples,
                const Setting& setting, Layout layout = {}, Trial* out = nullptr);
/// Runs verify_fit() for several fits; the case is skipped if the backend supports none of them.
struct NamedFit {
  const char* name;
  Samples samples;
  Setting setting;
};
void verify_fits(const Context& context, const std::vector<NamedFit>& fits);

}  // namespace lloyd::conformance

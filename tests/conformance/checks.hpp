// Invariants of section "what a fit means", recomputed in float64 from a backend's own output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/trial.hpp"

namespace lloyd::conformance {

/// Labels are the nearest centroids to the stated accuracy; `exact`: none differs from the
/// definition. Otherwise the excess of a squared distance over the least is bounded by
/// (d + 8) u R^2, with R the diagonal of the data's bounding box and u = 2^-22 for float32, 2^-9
/// for tf32 and half.
void check_labels(const Context& context, const std::string& where, const Samples& samples,
                  const std::vector<double>& centroids, const std::vector<std::int32_t>& labels);

/// Each centroid is the mean of the samples whose `members` entry names it, within 2 units in the
/// last place (of the data type) of the largest |x_ij| among them, for each feature j.
void check_means(const std::string& where, const Samples& samples, DType dtype,
                 const std::vector<std::int32_t>& members, const std::vector<double>& centroids);

/// Inertia is that of the labels and centroids, within 1e-12 relative.
void check_inertia(const std::string& where, const Samples& samples,
                   const std::vector<double>& centroids, const std::vector<std::int32_t>& labels,
                   double inertia);

void check_counts(const std::string& where, const std::vector<std::int32_t>& labels,
                  const std::vector<std::int64_t>& counts);

/// Every observed iteration follows from the one before it: labels, changed, inertia, relocations,
/// means, kept centroids, shift; and the inertia of exact labels never rises (1e-12 relative).
void check_trace(const Context& context, const std::string& where, const Samples& samples,
                 const Setting& setting, const Trial& trial);

/// The fit stopped where the rules say, for the reason they say.
void check_stop(const std::string& where, const Setting& setting, const Trial& trial);

/// Labels, counts and inertia are valid and belong to the returned centroids.
void check_closing(const Context& context, const std::string& where, const Samples& samples,
                   const Trial& trial);

/// "n=5 d=3 k=2 'name'".
std::string describe(const char* name, const Samples& samples, const Setting& setting);

/// Runs a fit with everything observed and applies all of the above, and for canonical backends
/// compares it with the reference bit for bit. False, without running anything, where the fit is
/// beyond the backend.
bool verify_fit(const Context& context, const char* name, const Samples& samples,
                const Setting& setting, Layout layout = {}, Trial* out = nullptr);
/// The same for several fits; ends the case as skipped when all are beyond the backend.
struct NamedFit {
  const char* name;
  Samples samples;
  Setting setting;
};
void verify_fits(const Context& context, const std::vector<NamedFit>& fits);

}  // namespace lloyd::conformance

// Bit-for-bit comparisons that report the first difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/support/trial.hpp"

namespace lloyd::conformance {

/// True if the bit patterns are equal: -0 and 0 differ.
bool same_bits(double a, double b);

/// Compares k x d centroids.
void expect_same(const std::string& where, std::int64_t d, const std::vector<double>& expected,
                 const std::vector<double>& got);
void expect_same_labels(const std::string& where, const std::vector<std::int32_t>& expected,
                        const std::vector<std::int32_t>& got);
void expect_same_counts(const std::string& where, const std::vector<std::int64_t>& expected,
                        const std::vector<std::int64_t>& got);
void expect_same(const std::string& where, const char* what, double expected, double got);
/// Compares all outputs of two fits: centroids, labels, counts, inertia, iterations, relocations,
/// stop reason.
void expect_same_fit(const std::string& where, std::int64_t d, const Trial& expected,
                     const Trial& got);

/// The enumerator, as authors write it: "out_of_memory"; "77" if there is none with this value.
std::string name_of(StatusCode code);
reference::EmptyPolicy reference_policy(EmptyClusters policy);
reference::Settings reference_settings(const Setting& setting);

/// Compares a fully observed fit with the reference, iteration by iteration.
void expect_reference_bits(const std::string& where, const Samples& samples, const Setting& setting,
                           const Trial& trial);
void expect_reference_bits(const std::string& where, std::int64_t d, const reference::Fit& expected,
                           const Trial& trial);

}  // namespace lloyd::conformance

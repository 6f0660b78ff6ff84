// Compile-time checks for optional step members whose signature is wrong and that would otherwise
// be silently ignored.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/step.hpp>

namespace lloyd::detail {

// Detect a public member by name, whatever its return type and constness.
template <class S>
concept DeclaresSumKernels = requires(S& step) {
  step.sum_kernels();
};
template <class S>
concept DeclaresExactFallbacks = requires(S& step) {
  step.take_exact_fallbacks();
};
template <class S>
concept DeclaresDistances = requires(S& step) {
  step.take_distances();
};
template <class S>
concept DeclaresLabelChanges = requires(S& step, RowRange block, std::int32_t* labels,
                                        LabelChangeSums<typename S::value_type>& changes) {
  step.assign(block, labels, changes);
};
template <class S>
concept DeclaresMoveSamples = requires {
  &S::use_samples;
};

template <class S>
concept DeclaresQuery = requires(S& step) {
  step.query("");
};
template <class S>
concept AnswersQueries = requires(S& step, std::string_view name) {
  { step.query(name) } -> std::same_as<void*>;
};

// Steps whose samples are labelled one at a time by RowStep::assign().
template <class S>
concept UsesRowAssign = std::derived_from<S, RowStep<S, typename S::value_type>> && requires {
  requires std::same_as<decltype(&S::assign),
                        decltype(&RowStep<S, typename S::value_type>::assign)>;
};
template <class S>
concept LabelsRows = requires(const S& step, const typename S::value_type* x) {
  { step.label(x) } -> std::convertible_to<std::int32_t>;
  // A narrower type cannot represent all labels.
  requires sizeof(step.label(x)) >= sizeof(std::int32_t);
};

// For LloydLoop: optional members must have the declarations of the concepts in step.hpp.
template <class S>
constexpr bool check_step() {
  static_assert(HasSumKernels<S> || !DeclaresSumKernels<S>,
                "the step's sum_kernels() must be const and return SumKernels<value_type>");
  static_assert(CountsExactFallbacks<S> || !DeclaresExactFallbacks<S>,
                "the step's take_exact_fallbacks() must return std::int64_t");
  static_assert(KeepsBounds<S> || !DeclaresDistances<S>,
                "the step's take_distances() must return std::int64_t");
  static_assert(ReportsLabelChanges<S> || !DeclaresLabelChanges<S>,
                "the step's assign(block, labels, changes) must return the number of changed "
                "labels, std::int64_t");
  static_assert(ReadsRowWindows<S> || !DeclaresMoveSamples<S>,
                "the step's use_samples(const void*, RowRange) must be public");
  static_assert(AnswersQueries<S> || !DeclaresQuery<S>,
                "the step's query() must take std::string_view and return void*: names are "
                "compared as strings, not as pointers");
  static_assert(LabelsRows<S> || !UsesRowAssign<S>,
                "the step's label(const T*) must be public and const, and return std::int32_t");
  return true;
}

// For StepBackend: functions that are called before a step exists must be static.
template <class S>
constexpr bool check_step_class() {
  static_assert(
      requires(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec) {
        { S::supports(shape, parameters, spec) } -> std::convertible_to<Status>;
      },
      "the step's supports(const ProblemShape&, const ParameterList&, const FitSpec&) must be "
      "public and static, and return Status");
  static_assert(
      requires(const ProblemShape& shape, const ParameterList& parameters) {
        { S::estimate_bytes(shape, parameters) } -> std::convertible_to<std::int64_t>;
        { S::estimate_device_bytes(shape, parameters) } -> std::convertible_to<std::int64_t>;
      },
      "the step's estimate_bytes() and estimate_device_bytes() must be public and static, take "
      "(const ProblemShape&, const ParameterList&) and return std::int64_t");
  static_assert(
      requires(const ParameterList& parameters) {
        { S::estimate_workers(parameters) } -> std::convertible_to<int>;
      },
      "the step's estimate_workers(const ParameterList&) must be public and static, and return "
      "int");
  static_assert(
      requires(DeviceList * devices) {
        { S::probe(devices) } -> std::convertible_to<Status>;
      },
      "the step's probe(DeviceList*) must be public and static, and return Status");
  return true;
}

}  // namespace lloyd::detail

// Checks at compile time that no member of a step is left out because of its declaration.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <lloyd/plugin/abi/backend.hpp>
#include <lloyd/plugin/sdk/step.hpp>

namespace lloyd::detail {

// A member of one of these names makes the name ambiguous in WithOptionalNames, whatever its
// declaration.
struct OptionalNames {
  int sum_kernels, take_exact_fallbacks, take_distances, write_labels;
};
template <class S>
struct WithOptionalNames : S, OptionalNames {};

// A class that is final cannot be examined.
template <class S>
concept NamesSumKernels = !std::is_final_v<S> && !requires {
  &WithOptionalNames<S>::sum_kernels;
};
template <class S>
concept NamesExactFallbacks = !std::is_final_v<S> && !requires {
  &WithOptionalNames<S>::take_exact_fallbacks;
};
template <class S>
concept NamesDistances = !std::is_final_v<S> && !requires {
  &WithOptionalNames<S>::take_distances;
};
template <class S>
concept NamesWriteLabels = !std::is_final_v<S> && !requires {
  &WithOptionalNames<S>::write_labels;
};

template <class S>
concept TakesLabelChanges = requires(S& step, RowRange block, std::int32_t* labels,
                                     LabelChangeSums<typename S::value_type>& changes) {
  step.assign(block, labels, changes);
};

template <class S>
concept IsRowStep = std::derived_from<S, RowStep<S, typename S::value_type>>;
template <class S>
concept LabelsRows = requires(const S& step, const typename S::value_type* x) {
  { step.label(x) } -> std::same_as<std::int32_t>;
};

// For LloydLoop: optional members must have the declarations of the concepts in step.hpp.
template <class S>
constexpr bool check_step() {
  static_assert(HasSumKernels<S> || !NamesSumKernels<S>,
                "the step's sum_kernels() must be public and const, and return "
                "SumKernels<value_type>");
  static_assert(CountsExactFallbacks<S> || !NamesExactFallbacks<S>,
                "the step's take_exact_fallbacks() must be public and return std::int64_t");
  static_assert(KeepsBounds<S> || !NamesDistances<S>,
                "the step's take_distances() must be public and return std::int64_t");
  static_assert(DefersLabels<S> || !NamesWriteLabels<S>,
                "the step's write_labels() must be public and take the labels, std::int32_t*");
  static_assert(ReportsLabelChanges<S> || !TakesLabelChanges<S>,
                "the step's assign(block, labels, changes) must return the number of changed "
                "labels, std::int64_t");
  static_assert(LabelsRows<S> || !IsRowStep<S>,
                "the step's label(const T*) must be public and const, and return std::int32_t");
  return true;
}

// For StepBackend: what is asked before there is a step must be static.
template <class S>
constexpr bool check_step_class() {
  static_assert(
      requires(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec) {
        { S::supports(shape, parameters, spec) } -> std::same_as<Status>;
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
        { S::probe(devices) } -> std::same_as<Status>;
      },
      "the step's probe(DeviceList*) must be public and static, and return Status");
  return true;
}

}  // namespace lloyd::detail

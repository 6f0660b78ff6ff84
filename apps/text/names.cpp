#include "text/names.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

namespace lloyd::apps {
namespace {

template <class Enum, std::size_t Count>
using Names = std::array<std::pair<Enum, std::string_view>, Count>;

constexpr Names<DType, 2> kDTypes = {{{DType::float32, "float32"}, {DType::float64, "float64"}}};
constexpr Names<Accuracy, 4> kAccuracies = {{{Accuracy::exact, "exact"},
                                             {Accuracy::float32, "float32"},
                                             {Accuracy::tf32, "tf32"},
                                             {Accuracy::half, "half"}}};
constexpr Names<Reproducibility, 4> kReproducibilities = {
    {{Reproducibility::canonical, "canonical"},
     {Reproducibility::threads, "threads"},
     {Reproducibility::run, "run"},
     {Reproducibility::none, "none"}}};
constexpr Names<EmptyClusters, 3> kEmptyClusters = {{{EmptyClusters::relocate, "relocate"},
                                                     {EmptyClusters::keep, "keep"},
                                                     {EmptyClusters::error, "error"}}};
constexpr auto kStopReasons = [] {
  Names<StopReason, 5> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto reason = static_cast<StopReason>(i);
    names[i] = {reason, lloyd::to_string(reason)};
  }
  return names;
}();
constexpr Names<SumForm, 3> kSumForms = {{{SumForm::integer64, "integer64"},
                                          {SumForm::integer128, "integer128"},
                                          {SumForm::compensated, "compensated"}}};
constexpr Names<ParameterType, 4> kParameterTypes = {{{ParameterType::integer, "integer"},
                                                      {ParameterType::number, "number"},
                                                      {ParameterType::boolean, "boolean"},
                                                      {ParameterType::choice, "choice"}}};

template <class Enum, std::size_t Count>
std::string_view name_of(const Names<Enum, Count>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

template <class Enum, std::size_t Count>
Enum parse(const Names<Enum, Count>& names, std::string_view what, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    known.emplace_back(name);
  }
  throw InputError(fmt::format("unknown {} '{}'{}", what, text, suggestion(text, known)));
}

}  // namespace

std::string_view to_string(DType dtype) {
  return name_of(kDTypes, dtype);
}
std::string_view to_string(Accuracy accuracy) {
  return name_of(kAccuracies, accuracy);
}
std::string_view to_string(Reproducibility level) {
  return name_of(kReproducibilities, level);
}
std::string_view to_string(EmptyClusters policy) {
  return name_of(kEmptyClusters, policy);
}
std::string_view to_string(SumForm form) {
  return name_of(kSumForms, form);
}
std::string_view to_string(ParameterType type) {
  return name_of(kParameterTypes, type);
}

DType parse_dtype(std::string_view name) {
  return parse(kDTypes, "dtype", name);
}
EmptyClusters parse_empty_clusters(std::string_view name) {
  return parse(kEmptyClusters, "policy for empty clusters", name);
}
Accuracy parse_accuracy(std::string_view name) {
  return parse(kAccuracies, "accuracy", name);
}
Reproducibility parse_reproducibility(std::string_view name) {
  return parse(kReproducibilities, "reproducibility", name);
}
StopReason parse_stop_reason(std::string_view name) {
  return parse(kStopReasons, "stop reason", name);
}
SumForm parse_sum_form(std::string_view name) {
  return parse(kSumForms, "form of sums", name);
}

}  // namespace lloyd::apps

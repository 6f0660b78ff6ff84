// Names of the boundary's enumerations in records, YAML and the command line.
#pragma once

#include <string_view>

#include <lloyd/plugin/abi/parameters.hpp>
#include <lloyd/plugin/abi/types.hpp>

namespace lloyd::apps {

std::string_view to_string(DType dtype);
std::string_view to_string(Accuracy accuracy);
std::string_view to_string(Reproducibility reproducibility);
std::string_view to_string(EmptyClusters policy);
std::string_view to_string(SumForm form);
std::string_view to_string(ParameterType type);

/// Throw InputError, which lists the known names, for an unknown one.
DType parse_dtype(std::string_view name);
EmptyClusters parse_empty_clusters(std::string_view name);
Accuracy parse_accuracy(std::string_view name);
Reproducibility parse_reproducibility(std::string_view name);
StopReason parse_stop_reason(std::string_view name);
SumForm parse_sum_form(std::string_view name);

}  // namespace lloyd::apps

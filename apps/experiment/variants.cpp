#include "experiment/variants.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/suggestion.hpp>

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMaximumVariants = 1'000;

void set_parameter(ParameterSet& parameters, const std::string& backend,
                   const ParameterRequest& request, const ConfigNode& value) {
  try {
    parameters.set(request.name, value.text);
  } catch (const InputError& error) {
    // A wrong name stands at the key, a wrong value at the value.
    const Place& place = parameters.texts().contains(request.name) ? value.place : request.place;
    place.fail(fmt::format("{}: {}", backend, error.what()));
  }
}

// Adds every combination of the values of parameters `at`, `at` + 1, ...
void add_combinations(const BackendRequest& request,
                      const std::shared_ptr<const LoadedBackend>& backend, std::size_t at,
                      const ParameterSet& parameters, std::vector<Variant>& variants) {
  if (at == request.parameters.size()) {
    for (const Variant& other : variants) {
      if (other.backend->name() == request.name && other.parameters.texts() == parameters.texts()) {
        const std::string changes = parameters.describe_changes();
        request.place.fail(fmt::format("'{}' with {} is listed twice", request.name,
                                       changes.empty() ? "default parameters" : changes));
      }
    }
    if (variants.size() == kMaximumVariants) {
      request.place.fail(
          fmt::format("there are more than {} variants of backends", kMaximumVariants));
    }
    variants.push_back({backend, parameters, request.name});
    return;
  }
  const ParameterRequest& parameter = request.parameters[at];
  for (const ConfigNode& value : parameter.values) {
    ParameterSet next = parameters;
    set_parameter(next, request.name, parameter, value);
    add_combinations(request, backend, at + 1, next, variants);
  }
}

// Parameters in which the variants of one backend differ, in the schema's order.
std::vector<std::string> varying_parameters(const std::vector<Variant>& variants,
                                            const std::string& backend) {
  std::map<std::string, std::set<std::string>> values;
  const std::vector<ParameterInfo>* schema = nullptr;
  for (const Variant& variant : variants) {
    if (variant.backend->name() != backend) continue;
    schema = &variant.parameters.schema();
    for (const auto& [name, text] : variant.parameters.texts()) values[name].insert(text);
  }
  std::vector<std::string> names;
  if (schema == nullptr) return names;
  for (const ParameterInfo& parameter : *schema) {
    if (values[parameter.name].size() > 1) names.emplace_back(parameter.name);
  }
  return names;
}

}  // namespace

std::vector<Variant> make_variants(const std::vector<BackendRequest>& requests,
                                   const BackendLoader& load) {
  std::vector<Variant> variants;
  for (const BackendRequest& request : requests) {
    std::shared_ptr<const LoadedBackend> backend;
    try {
      backend = load(request.name);
    } catch (const Error& error) {
      request.place.fail(error.what());
    }
    add_combinations(request, backend, 0, backend->default_parameters(), variants);
  }
  for (Variant& variant : variants) {
    for (const std::string& name : varying_parameters(variants, variant.backend->name())) {
      variant.label += fmt::format(" {}={}", name, variant.parameters.text(name));
    }
  }
  return variants;
}

std::size_t find_baseline(const BackendRequest& baseline, const std::vector<Variant>& variants) {
  std::vector<std::string> names;
  std::vector<std::size_t> matches;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    names.push_back(variant.backend->name());
    if (names.back() != baseline.name) continue;
    ParameterSet wanted = variant.parameters;
    for (const ParameterRequest& parameter : baseline.parameters) {
      set_parameter(wanted, baseline.name, parameter, parameter.values.front());
    }
    if (wanted.texts() == variant.parameters.texts()) matches.push_back(v);
  }
  if (matches.size() == 1) return matches.front();

  if (std::find(names.begin(), names.end(), baseline.name) == names.end()) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    baseline.place.fail(fmt::format("the baseline '{}' is not among the backends{}", baseline.name,
                                    suggestion(baseline.name, names)));
  }
  std::vector<std::string> labels;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const bool candidate = matches.empty()
                               ? names[v] == baseline.name
                               : std::find(matches.begin(), matches.end(), v) != matches.end();
    if (candidate) labels.push_back(variants[v].label);
  }
  if (matches.empty()) {
    baseline.place.fail(
        fmt::format("the baseline matches none of the variants: {}", fmt::join(labels, ", ")));
  }
  std::vector<std::string> parameters;
  for (const std::string& name : varying_parameters(variants, baseline.name)) {
    parameters.push_back(
        fmt::format("{}: {}", name, variants[matches.front()].parameters.text(name)));
  }
  baseline.place.fail(
      fmt::format("the baseline could be any of: {}; name one, such as {{{}: {{{}}}}}",
                  fmt::join(labels, ", "), baseline.name, fmt::join(parameters, ", ")));
}

}  // namespace lloyd::experiment

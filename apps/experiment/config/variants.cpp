#include "experiment/config/variants.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "experiment/yaml/config_values.hpp"
#include "external/backend.hpp"
#include "text/synonyms.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::size_t kMaxVariants = 1'000;

void set_parameter(ParameterSet& parameters, const std::string& backend,
                   const ParameterRequest& request, const ConfigNode& value) {
  for (const ParameterInfo& info : parameters.schema()) {
    const bool is_number =
        info.type == ParameterType::integer || info.type == ParameterType::number;
    if (info.name != request.name || !is_number || may_be_number(value)) continue;
    value.fail(fmt::format("{}: '{}' must be a number without quotes and leading zeros, not {}",
                           backend, request.name, value.kind_text()));
  }
  try {
    parameters.set(request.name, value.text);
  } catch (const InputError& error) {
    // Reports a wrong name at the key, and a wrong value at the value.
    const Place& place = parameters.texts().contains(request.name) ? value.place : request.place;
    place.fail(fmt::format("{}: {}", backend, error.what()));
  }
}

// All parameters as texts, or the given ones if the schema is unknown.
std::map<std::string, std::string> texts_of(const Variant& variant) {
  return variant.parameters_known() ? variant.parameters.texts() : variant.given;
}

std::string describe(const std::map<std::string, std::string>& texts) {
  std::vector<std::string> parts;
  for (const auto& [name, text] : texts) parts.push_back(fmt::format("{}={}", name, text));
  return fmt::format("{}", fmt::join(parts, " "));
}

// Adds every combination of the values of the parameters from index `at` on.
void add_combinations(const BackendRequest& request, std::size_t at, const Variant& variant,
                      std::vector<Variant>& variants) {
  if (at == request.parameters.size()) {
    for (const Variant& other : variants) {
      if (other.name == variant.name && texts_of(other) == texts_of(variant)) {
        const std::string changes = variant.parameters_known()
                                        ? variant.parameters.describe_changes()
                                        : describe(variant.given);
        request.place.fail(fmt::format("'{}' with {} is listed twice", request.name,
                                       changes.empty() ? "default parameters" : changes));
      }
    }
    if (variants.size() == kMaxVariants) {
      request.place.fail(fmt::format("there are more than {} variants of backends", kMaxVariants));
    }
    variants.push_back(variant);
    return;
  }
  const ParameterRequest& parameter = request.parameters[at];
  for (const ConfigNode& value : parameter.values) {
    Variant next = variant;
    next.given[parameter.name] = value.text;
    if (variant.parameters_known()) {
      set_parameter(next.parameters, request.name, parameter, value);
    }
    add_combinations(request, at + 1, next, variants);
  }
}

// The parameters in which the variants of one backend differ, in schema order.
std::vector<std::string> varying_parameters(const std::vector<Variant>& variants,
                                            const std::string& backend) {
  std::map<std::string, std::set<std::string>> values;
  std::set<std::string> known;
  std::vector<std::string> order;
  for (const Variant& variant : variants) {
    if (variant.name != backend) continue;
    for (const ParameterInfo& parameter : variant.parameters.schema()) {
      if (known.insert(parameter.name).second) order.emplace_back(parameter.name);
    }
    for (const auto& [name, text] : variant.given) {
      if (known.insert(name).second) order.push_back(name);
    }
  }
  for (const Variant& variant : variants) {
    if (variant.name != backend) continue;
    const std::map<std::string, std::string> texts = texts_of(variant);
    for (const std::string& name : order) {
      const auto text = texts.find(name);
      values[name].insert(text == texts.end() ? "" : text->second);
    }
  }
  std::erase_if(order, [&](const std::string& name) { return values[name].size() < 2; });
  return order;
}

// The product of variants and numbers of ranks.
std::vector<Variant> with_ranks(const std::vector<Variant>& variants,
                                const std::vector<std::int64_t>& ranks) {
  if (ranks.empty()) return variants;
  if (variants.size() * ranks.size() > kMaxVariants) {
    throw InputError(
        fmt::format("{} variants x {} numbers of ranks exceed the limit of {} variants",
                    variants.size(), ranks.size(), kMaxVariants));
  }
  std::vector<Variant> product;
  for (const Variant& variant : variants) {
    for (const std::int64_t number : ranks) {
      product.push_back(variant);
      product.back().ranks = number;
      if (ranks.size() > 1) product.back().label += fmt::format(" ranks={}", number);
    }
  }
  return product;
}

// Of variants that differ only in their ranks, keeps the one with the fewest.
void keep_fewest_ranks(const std::vector<Variant>& variants, std::vector<std::size_t>& matches) {
  if (matches.empty()) return;
  const auto texts = texts_of(variants[matches.front()]);
  const bool same = std::all_of(matches.begin(), matches.end(), [&](std::size_t match) {
    return texts_of(variants[match]) == texts;
  });
  if (!same) return;
  matches = {*std::min_element(matches.begin(), matches.end(), [&](std::size_t a, std::size_t b) {
    return variants[a].ranks < variants[b].ranks;
  })};
}

std::string describe_source(const std::filesystem::path& program) {
  return program.empty() ? "Lloyd's own plugin" : program.string();
}

// The end of a message about a backend that cannot be loaded: how another library is named.
std::string advice_on_library(const BackendRequest& request) {
  const std::string_view program = apps::program_for(request.name);
  if (!request.program.empty() || program.empty()) return {};
  return fmt::format(
      "; '{}' is an external program: 'external: {{program: PATH/bench/peers/{}}}', see "
      "docs/external_programs.md",
      request.name, program);
}

}  // namespace

bool Variant::parameters_known() const {
  if (backend == nullptr) return false;
  return backend->available() || !external::is_program(backend->path()) ||
         !parameters.schema().empty();
}

std::vector<Variant> make_variants(const std::vector<BackendRequest>& requests,
                                   const BackendLoader& load,
                                   const std::vector<std::int64_t>& ranks) {
  std::vector<Variant> variants;
  std::map<std::string, std::filesystem::path> programs;  // by variant name; empty for plugins
  for (const BackendRequest& request : requests) {
    Variant variant{request.name, {}, nullptr, ParameterSet(nullptr, 0), request.name, {}};
    try {
      if (request.program.empty()) {
        variant.backend = load(request.name);
      } else {
        variant.backend = external::load_program(request.program);
        variant.name = variant.label = variant.backend->name();
      }
      variant.parameters = variant.backend->default_parameters();
    } catch (const InputError& error) {  // other errors are not the experiment's fault
      if (!request.optional) request.place.fail(error.what() + advice_on_library(request));
      variant.missing = error.what();
    }
    const auto [same, is_new] = programs.emplace(variant.name, request.program);
    if (!is_new && same->second != request.program) {
      request.place.fail(fmt::format("two backends of the experiment are called '{}': {} and {}",
                                     variant.name, describe_source(same->second),
                                     describe_source(request.program)));
    }
    add_combinations(request, 0, variant, variants);
  }
  for (Variant& variant : variants) {
    const std::map<std::string, std::string> texts = texts_of(variant);
    for (const std::string& name : varying_parameters(variants, variant.name)) {
      const auto text = texts.find(name);
      if (text != texts.end()) variant.label += fmt::format(" {}={}", name, text->second);
    }
  }
  return with_ranks(variants, ranks);
}

std::size_t find_baseline(const BackendRequest& baseline, const std::vector<Variant>& variants) {
  std::vector<std::string> names;
  std::vector<std::size_t> matches;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    names.push_back(variant.name);
    if (names.back() != baseline.name) continue;
    Variant wanted = variant;
    for (const ParameterRequest& parameter : baseline.parameters) {
      const ConfigNode& value = parameter.values.front();
      wanted.given[parameter.name] = value.text;
      if (variant.parameters_known()) {
        set_parameter(wanted.parameters, baseline.name, parameter, value);
      }
    }
    if (texts_of(wanted) == texts_of(variant)) matches.push_back(v);
  }
  keep_fewest_ranks(variants, matches);
  if (matches.size() == 1) return matches.front();
  if (baseline.parameters.empty()) {
    const auto labelled =
        std::find_if(variants.begin(), variants.end(),
                     [&](const Variant& variant) { return variant.label == baseline.name; });
    if (labelled != variants.end()) return static_cast<std::size_t>(labelled - variants.begin());
  }

  if (std::find(names.begin(), names.end(), baseline.name) == names.end()) {
    std::vector<std::string> labels;
    for (const Variant& variant : variants) labels.push_back(variant.label);
    baseline.place.fail(fmt::format("the baseline '{}' is not among the backends{}",
                                    shown(baseline.name), suggestion(baseline.name, labels)));
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
  std::map<std::string, std::string> texts = texts_of(variants[matches.front()]);
  for (const std::string& name : varying_parameters(variants, baseline.name)) {
    parameters.push_back(fmt::format("{}: {}", name, texts[name]));
  }
  baseline.place.fail(
      fmt::format("the baseline could be any of: {}; name one, such as {{{}: {{{}}}}}",
                  fmt::join(labels, ", "), baseline.name, fmt::join(parameters, ", ")));
}

}  // namespace lloyd::experiment

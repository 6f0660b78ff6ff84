// The description of a backend is complete and consistent.
#include <cstring>
#include <set>
#include <string_view>

#include "conformance/support/cases.hpp"
#include "conformance/support/samples.hpp"

namespace lloyd::conformance {
namespace {

bool empty(const char* text) {
  return text == nullptr || *text == '\0';
}

void info(const Context& context) {
  const BackendInfo& info = context.info();
  expect(!empty(info.summary), "info() has no summary");
  expect(std::strchr(info.summary, '\n') == nullptr, "the summary has more than one line");
  expect(!empty(info.algorithm), "info() has no algorithm");
  expect((info.capabilities & (kCapabilityHostMemory | kCapabilityDeviceMemory)) != 0,
         "the backend takes samples neither in host nor in device memory (capabilities {:#x})",
         info.capabilities);
  const BackendInfo* again = context.backend().info();
  expect(again != nullptr && again->capabilities == info.capabilities &&
             again->parameter_count == info.parameter_count,
         "info() changes from call to call");
  expect(info.parameter_count == 0 || info.parameters != nullptr,
         "{} parameters are declared and no schema is given", info.parameter_count);
}

// `canonical` requires exact labels; `none` requires a reason.
void claims(const Context& context) {
  expect(!context.canonical() || context.exact(),
         "the backend claims canonical results with labels that are not exact");
  expect(context.repeatable() || !empty(context.info().reproducibility_reason),
         "the backend claims no reproducibility and does not say why");
}

void expect_default(const ParameterInfo& parameter) {
  const std::string_view name = parameter.name;
  switch (parameter.type) {
    case ParameterType::integer:
      expect(parameter.integer_minimum <= parameter.integer_default &&
                 parameter.integer_default <= parameter.integer_maximum,
             "parameter '{}': the default {} is not in [{}, {}]", name, parameter.integer_default,
             parameter.integer_minimum, parameter.integer_maximum);
      break;
    case ParameterType::number:
      expect(parameter.number_minimum <= parameter.number_default &&
                 parameter.number_default <= parameter.number_maximum,
             "parameter '{}': the default {} is not in [{}, {}]", name, parameter.number_default,
             parameter.number_minimum, parameter.number_maximum);
      break;
    case ParameterType::boolean:
      expect(parameter.integer_default == 0 || parameter.integer_default == 1,
             "parameter '{}': the default {} is not a boolean", name, parameter.integer_default);
      break;
    case ParameterType::choice:
      expect(parameter.choice_count >= 1 && parameter.choices != nullptr,
             "parameter '{}' offers no choice", name);
      expect(0 <= parameter.integer_default && parameter.integer_default < parameter.choice_count,
             "parameter '{}': the default {} is not the index of one of {} choices", name,
             parameter.integer_default, parameter.choice_count);
      break;
    default:
      fail("parameter '{}' has the unknown type {}", name, static_cast<int>(parameter.type));
  }
}

void described_parameters(const Context& context) {
  std::set<std::string_view> names;
  for (const ParameterInfo& parameter : context.parameters().schema()) {
    expect(!empty(parameter.name), "a parameter has no name");
    expect(names.insert(parameter.name).second, "two parameters are called '{}'", parameter.name);
    expect(!empty(parameter.meaning), "parameter '{}' does not say what it means", parameter.name);
    expect_default(parameter);
    if (parameter.type != ParameterType::choice) continue;
    std::set<std::string_view> choices;
    for (std::int32_t choice = 0; choice < parameter.choice_count; ++choice) {
      expect(!empty(parameter.choices[choice]), "parameter '{}': choice {} is empty",
             parameter.name, choice);
      expect(choices.insert(parameter.choices[choice]).second, "parameter '{}' offers '{}' twice",
             parameter.name, parameter.choices[choice]);
    }
  }
}

// query() returns null for unknown interfaces.
void unknown_interface(const Context& context) {
  expect(context.backend().query("lloyd.no-such-interface") == nullptr,
         "the backend answers a query for an interface that does not exist");
  const Samples samples{2, 1, {0, 1}};
  const Dataset dataset = make_dataset(samples, context.dtype());
  const OwnedSession session = context.open(dataset, 1);
  expect(session->query("lloyd.no-such-interface") == nullptr,
         "the session answers a query for an interface that does not exist");
}

}  // namespace

void add_description_cases(std::vector<Case>& cases) {
  cases.push_back({"description/info", Scope::once, info});
  cases.push_back({"description/claims", Scope::defaults, claims});
  cases.push_back({"description/parameters", Scope::once, described_parameters});
  cases.push_back({"description/unknown-interface", Scope::defaults, unknown_interface});
}

}  // namespace lloyd::conformance

#include "report/ceilings_file.hpp"

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/json_fields.hpp>
#include <lloyd/internal/json_text.hpp>

namespace lloyd::report {

using nlohmann::ordered_json;

namespace {

ordered_json rate(const JsonFields& ceilings, const char* key) {
  const JsonFields rate = ceilings.object(key);
  return {{"one_thread", rate.number("one_thread", 0)},
          {"all_threads", rate.number("all_threads", 0)}};
}

ordered_json ceilings_of(const ordered_json& doctor) {
  const JsonFields json(doctor);
  if (json.is_null("ceilings")) {
    throw InputError("holds no ceilings: 'lloyd doctor --json' without --quick measures them");
  }
  const JsonFields ceilings = json.object("ceilings");
  return {{"cpu", json.object("cpu").text_or_null("model")},
          {"instruction_set", ceilings.text("instruction_set")},
          {"threads", ceilings.integer("threads", 1)},
          {"float32_gflops", rate(ceilings, "float32_gflops")},
          {"float64_gflops", rate(ceilings, "float64_gflops")},
          {"read_gbs", rate(ceilings, "read_gbs")}};
}

}  // namespace

ordered_json read_ceilings(const std::filesystem::path& file) {
  constexpr int kMaxLevels = 16;
  const std::string text = read_text_file(file);
  try {
    const ordered_json doctor = parse_json(text, kMaxLevels);
    if (!doctor.is_object()) throw InputError("is not output of 'lloyd doctor --json'");
    return ceilings_of(doctor);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace lloyd::report

#include "commands/usage_error.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/status_text.hpp>
#include <lloyd/internal/suggestion.hpp>

#include "text/synonyms.hpp"

namespace lloyd::apps {
namespace {

// The innermost subcommand that was parsed.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

// Names of the subcommands, "data blobs"; empty for the program itself.
std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string outer = path_of(*app.get_parent());
  return outer.empty() ? app.get_name() : outer + " " + app.get_name();
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  // Every command has its own --help.
  const auto add = [&names](std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  };
  for (const CLI::App* owner = &app; owner != nullptr; owner = owner->get_parent()) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) add("--" + name);
      for (const std::string& name : option->get_snames()) add("-" + name);
    }
  }
  return names;
}

// CLI11 reports a misspelt subcommand as missing. A first word that is not an option is taken for
// the misspelt name.
std::string missing_subcommand(const CLI::App& app, int count, const char* const* arguments) {
  std::vector<std::string> known;
  for (const CLI::App* subcommand : app.get_subcommands(nullptr)) {
    if (!subcommand->get_group().empty()) known.push_back(subcommand->get_name());
  }
  const std::string of = path_of(app).empty() ? "" : fmt::format(" of '{}'", path_of(app));
  const std::string own = app.get_parent() == nullptr ? "" : app.get_name();
  int first = 1;
  while (!own.empty() && first < count && arguments[first] != own) ++first;
  if (!own.empty()) ++first;
  if (first < count && arguments[first][0] != '-' && arguments[first][0] != '\0') {
    return fmt::format("unknown subcommand '{}'{}{}", arguments[first], of,
                       suggestion(arguments[first], known));
  }
  return fmt::format("a subcommand{} is missing: {}", of, fmt::join(known, ", "));
}

// The arguments that the parser could not place, in the order in which they were typed: the parser
// itself lists those of the program before those of the subcommand.
std::vector<std::string> misplaced_arguments(const CLI::App& app, int count,
                                             const char* const* arguments) {
  std::vector<std::string> left = app.remaining(true);
  std::vector<std::string> ordered;
  for (int i = 1; i < count; ++i) {
    const auto found = std::find(left.begin(), left.end(), arguments[i]);
    if (found == left.end() || *found == "--") continue;
    ordered.push_back(*found);
    left.erase(found);
  }
  return ordered;
}

// The option that is probably meant; empty if none is. `command`: the path of the subcommand.
std::string likely_option(const std::string& name, const std::vector<std::string>& known,
                          const std::string& command) {
  if (std::string option = option_for(name, known); !option.empty()) return option;
  const std::string key = command == "run" ? key_for(name) : std::string();
  if (key.empty()) return nearest_name(name, known);
  const std::size_t colon = key.find(": ");  // "backends: [openmp: {threads: N}]"
  return colon == std::string::npos
             ? fmt::format("--set {}=VALUE", key)
             : fmt::format("--set {}='{}'", key.substr(0, colon), key.substr(colon + 2));
}

std::string unknown_options(const std::vector<std::string>& names,
                            const std::vector<std::string>& known, const std::string& command) {
  std::string text;
  for (const std::string& name : names) {
    const std::string likely = likely_option(name, known, command);
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
    if (!likely.empty()) {
      text += fmt::format(" (did you mean '{}'?)", likely);
    } else if (names.size() == 1) {
      text += suggestion(name, known);
    }
  }
  return fmt::format("unknown option{} {}", names.size() == 1 ? "" : "s", text);
}

std::string unexpected(const CLI::App& app, const CLI::App& sub, int count,
                       const char* const* arguments) {
  const std::vector<std::string> rest = misplaced_arguments(app, count, arguments);
  const std::vector<std::string> known = names_of_options(sub);
  std::vector<std::string> unknown;
  for (const std::string& word : rest) {
    if (word.size() < 2 || word.front() != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return fmt::format("{} takes no value, but '{}' gives it one", name, word);
    }
    unknown.push_back(name);
  }
  if (!unknown.empty()) return unknown_options(unknown, known, path_of(sub));
  return rest.empty() ? "there is one argument too many"
                      : fmt::format("unexpected argument '{}'", rest.front());
}

// Splits `text` at the first occurrence of each separator after the one before it. Returns nullopt
// if one is missing.
std::optional<std::vector<std::string>> split_at(
    std::string_view text, std::initializer_list<std::string_view> separators) {
  std::vector<std::string> parts;
  for (const std::string_view separator : separators) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) return std::nullopt;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

// Rewords CLI11's messages about the number of an option's values, or about a value given to a
// flag.
std::string wrong_count(const std::string& text) {
  if (const auto parts = split_at(text, {" was given a disallowed flag override"})) {
    return fmt::format("--{} takes no value: it is given or left out", parts->at(0));
  }
  if (const auto parts = split_at(text, {": At Most ", " required but received "})) {
    return fmt::format("{} is given {} times; at most {} {} possible", parts->at(0), parts->at(2),
                       parts->at(1), parts->at(1) == "1" ? "is" : "are");
  }
  if (const auto parts = split_at(text, {": At least ", " required but received "})) {
    return fmt::format("{} needs {} values, not {}", parts->at(0), parts->at(1), parts->at(2));
  }
  if (const auto parts = split_at(text, {": ", " required ", " missing"})) {
    return parts->at(1) == "1" ? fmt::format("{} needs a value", parts->at(0))
                               : fmt::format("{} needs {} values", parts->at(0), parts->at(1));
  }
  return text.substr(0, text.find(':')) + " has a wrong number of values";
}

// Rewords CLI11's messages about a value; messages of Lloyd's own validators are kept.
std::string wrong_value(const std::string& text) {
  for (const char* const kind : {": Directory", ": File", ": Path"}) {
    if (const auto parts = split_at(text, {std::string(kind) + " does not exist: "})) {
      return fmt::format("{}: '{}' does not exist", parts->at(0), parts->at(1));
    }
  }
  if (const auto parts = split_at(text, {": Directory is actually a file: "})) {
    return fmt::format("{}: '{}' is a file, not a folder", parts->at(0), parts->at(1));
  }
  if (const auto parts = split_at(text, {": ", " not in {", "}"})) {
    std::string words = parts->at(2);
    for (std::size_t at = words.find(','); at != std::string::npos; at = words.find(',', at + 1)) {
      words.insert(at + 1, " ");
    }
    return fmt::format("{}: '{}' is unknown; {} are possible", parts->at(0), parts->at(1), words);
  }
  return text;
}

std::string two_options(const std::string& text, const std::string& verb, const char* sentence) {
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  return fmt::format(fmt::runtime(sentence), text.substr(0, at), text.substr(at + verb.size()));
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Shortens the arguments that a message repeats.
std::string shorten(std::string text, int count, const char* const* arguments) {
  constexpr std::size_t kMaxShown = 200;
  for (int i = 1; i < count; ++i) {
    const std::string argument = in_one_line(arguments[i]);
    const std::string value = argument.substr(argument.find('=') + 1);  // without '=': all of it
    for (const std::string_view part : {std::string_view(argument), std::string_view(value)}) {
      const std::size_t at = part.size() > kMaxShown ? text.find(part) : std::string::npos;
      if (at == std::string::npos) continue;
      text.replace(at, part.size(), std::string(cut_text(part, kMaxShown)) + "...");
    }
  }
  return text;
}

template <class Kind>
bool is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string sentence(const CLI::App& app, int count, const char* const* arguments,
                     const CLI::ParseError& error) {
  std::string text = in_one_line(error.what());
  const CLI::App& sub = innermost(app);
  if (is<CLI::RequiredError>(error)) {
    constexpr std::string_view kRequired = " is required";
    if (text.find("subcommand") != std::string::npos) {
      return missing_subcommand(sub, count, arguments);
    }
    if (text.ends_with(kRequired)) text.resize(text.size() - kRequired.size());
    return fmt::format("{} is missing", text);
  }
  if (is<CLI::ExtrasError>(error)) return unexpected(app, sub, count, arguments);
  if (is<CLI::ArgumentMismatch>(error)) return wrong_count(text);
  if (is<CLI::ValidationError>(error)) return wrong_value(text);
  if (is<CLI::ExcludesError>(error)) {
    return two_options(text, " excludes ", "{} and {} cannot be given together");
  }
  if (is<CLI::RequiresError>(error)) return two_options(text, " requires ", "{} needs {} too");
  if (is<CLI::ConversionError>(error)) {
    if (const auto parts = split_at(text, {"Could not convert: ", " = "})) {
      return fmt::format("{} cannot have the value '{}'", parts->at(1), parts->at(2));
    }
  }
  return text;
}

}  // namespace

std::string usage_error(const CLI::App& app, int count, const char* const* arguments,
                        const CLI::ParseError& error) {
  const std::string path = path_of(innermost(app));
  return fmt::format("{}; 'lloyd {}--help' describes the usage",
                     printable(shorten(sentence(app, count, arguments, error), count, arguments)),
                     path.empty() ? "" : path + " ");
}

}  // namespace lloyd::apps

#include "commands/usage_error.hpp"

#include <algorithm>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/internal/status_text.hpp>
#include <lloyd/internal/suggestion.hpp>

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
  for (const CLI::App* owner = &app; owner != nullptr; owner = owner->get_parent()) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
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

std::string unexpected(const CLI::App& app, const CLI::App& sub) {
  std::vector<std::string> rest = app.remaining(true);
  std::erase(rest, "--");
  const auto option = std::find_if(rest.begin(), rest.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  });
  if (option != rest.end()) {
    const std::string name = option->substr(0, option->find('='));
    const std::vector<std::string> known = names_of_options(sub);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return fmt::format("{} takes no value, but '{}' gives it one", name, *option);
    }
    return fmt::format("unknown option '{}'{}", name, suggestion(name, known));
  }
  return rest.empty() ? "there is one argument too many"
                      : fmt::format("unexpected argument '{}'", rest.back());
}

// Rewords CLI11's messages about the number of an option's values, or about a value given to a
// flag.
std::string wrong_count(const std::string& text) {
  std::smatch match;
  if (std::regex_search(text, match, std::regex("^(.*) was given a disallowed flag override"))) {
    return fmt::format("--{} takes no value: it is given or left out", match[1].str());
  }
  if (std::regex_search(text, match,
                        std::regex("^(.*): At Most ([0-9]+) required but received ([0-9]+)$"))) {
    return fmt::format("{} is given {} times; at most {} {} possible", match[1].str(),
                       match[3].str(), match[2].str(), match[2] == "1" ? "is" : "are");
  }
  if (std::regex_search(text, match,
                        std::regex("^(.*): At least ([0-9]+) required but received ([0-9]+)$"))) {
    return fmt::format("{} needs {} values, not {}", match[1].str(), match[2].str(),
                       match[3].str());
  }
  if (std::regex_search(text, match, std::regex("^(.*): ([0-9]+) required .* missing$"))) {
    return match[2] == "1" ? fmt::format("{} needs a value", match[1].str())
                           : fmt::format("{} needs {} values", match[1].str(), match[2].str());
  }
  return text.substr(0, text.find(':')) + " has a wrong number of values";
}

// Rewords CLI11's messages about a value; messages of Lloyd's own validators are kept.
std::string wrong_value(const std::string& text) {
  std::smatch match;
  if (std::regex_search(text, match,
                        std::regex("^(.*): (?:Directory|File|Path) does not exist: (.*)$"))) {
    return fmt::format("{}: '{}' does not exist", match[1].str(), match[2].str());
  }
  if (std::regex_search(text, match, std::regex("^(.*): Directory is actually a file: (.*)$"))) {
    return fmt::format("{}: '{}' is a file, not a folder", match[1].str(), match[2].str());
  }
  if (std::regex_search(text, match, std::regex("^(.*): (.*) not in \\{(.*)\\}$"))) {
    const std::string words = std::regex_replace(match[3].str(), std::regex(","), ", ");
    return fmt::format("{}: '{}' is unknown; {} are possible", match[1].str(), match[2].str(),
                       words);
  }
  return text;
}

std::string two_options(const std::string& text, const std::string& verb, const char* sentence) {
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  return fmt::format(fmt::runtime(sentence), text.substr(0, at), text.substr(at + verb.size()));
}

template <class Kind>
bool is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string sentence(const CLI::App& app, int count, const char* const* arguments,
                     const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  const CLI::App& sub = innermost(app);
  if (is<CLI::RequiredError>(error)) {
    constexpr std::string_view kRequired = " is required";
    if (text.find("subcommand") != std::string::npos) {
      return missing_subcommand(sub, count, arguments);
    }
    if (text.ends_with(kRequired)) text.resize(text.size() - kRequired.size());
    return fmt::format("{} is missing", text);
  }
  if (is<CLI::ExtrasError>(error)) return unexpected(app, sub);
  if (is<CLI::ArgumentMismatch>(error)) return wrong_count(text);
  if (is<CLI::ValidationError>(error)) return wrong_value(text);
  if (is<CLI::ExcludesError>(error)) {
    return two_options(text, " excludes ", "{} and {} cannot be given together");
  }
  if (is<CLI::RequiresError>(error)) return two_options(text, " requires ", "{} needs {} too");
  if (is<CLI::ConversionError>(error)) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex("^Could not convert: (.*) = (.*)$"))) {
      return fmt::format("{} cannot have the value '{}'", match[1].str(), match[2].str());
    }
  }
  return text;
}

}  // namespace

std::string usage_error(const CLI::App& app, int count, const char* const* arguments,
                        const CLI::ParseError& error) {
  const std::string path = path_of(innermost(app));
  return fmt::format("{}; 'lloyd {}--help' describes the usage",
                     printable(sentence(app, count, arguments, error)),
                     path.empty() ? "" : path + " ");
}

}  // namespace lloyd::apps

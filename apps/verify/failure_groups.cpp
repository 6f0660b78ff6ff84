#include "verify/failure_groups.hpp"

#include <algorithm>
#include <regex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lloyd::apps {
namespace {

// "lattice/ties/float32/layout=aos" becomes "lattice/ties".
std::string case_of(const std::string& name) {
  const std::size_t group = name.find('/');
  return group == std::string::npos ? name : name.substr(0, name.find('/', group + 1));
}

constexpr std::string_view kLastWords = "; last words: ";

std::string without_words(const std::string& message) {
  return message.substr(0, message.find(kLastWords));
}

std::string words_of(const std::string& message) {
  const std::size_t at = message.find(kLastWords);
  return at == std::string::npos ? std::string() : message.substr(at + kLastWords.size());
}

// Replaces numbers by '#', except for those of signals and exit statuses.
std::string mask_numbers(const std::string& text) {
  static const std::regex number(
      R"((signal |exit\()?-?\b(0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?|nan|inf)\b)");
  std::string masked;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), number), end; found != end; ++found) {
    masked.append(rest, (*found)[0].first);
    masked += (*found)[1].matched ? found->str() : "#";
    rest = (*found)[0].second;
  }
  return masked.append(rest, text.cend());
}

// True if the group has last words besides those in its message.
bool has_further_words(const FailureGroups::Group& group) {
  return group.words.size() > 1 ||
         (group.words.size() == 1 && group.words.front().name != group.names.front());
}

}  // namespace

std::string failure_cause(const std::string& message) {
  static const std::regex setting("^([^ =:]+=[^ :]+: )?(('[^']*' )?n=[0-9]+ d=[0-9]+[^:]*: )?");
  return mask_numbers(std::regex_replace(without_words(message), setting, "",
                                         std::regex_constants::format_first_only));
}

const FailureGroups::Group& FailureGroups::add(const conformance::Result& failed) {
  const auto [entry, is_new] = index_.emplace(failure_cause(failed.message), groups_.size());
  if (is_new) groups_.push_back({failed.message, {}, {}});
  Group& group = groups_[entry->second];
  group.names.push_back(failed.name);
  std::string words = words_of(failed.message);
  const bool is_known = std::any_of(
      group.words.begin(), group.words.end(),
      [&](const Words& known) { return mask_numbers(known.text) == mask_numbers(words); });
  if (!words.empty() && !is_known) group.words.push_back({failed.name, std::move(words)});
  return group;
}

std::string describe_failure(const conformance::Result& failed, const FailureGroups::Group& group) {
  if (group.names.size() == 1) return failed.message;
  std::string text = "same failure as " + group.names.front();
  const bool has_new_words = !group.words.empty() && group.words.back().name == failed.name;
  return has_new_words ? fmt::format("{}{}{}", text, kLastWords, group.words.back().text) : text;
}

std::string describe_group(const FailureGroups::Group& group) {
  constexpr std::size_t kMaxWords = 5;
  const bool has_further = has_further_words(group);
  std::string text = fmt::format(
      "  {}{}\n{}",
      group.names.size() > 1 ? fmt::format("{} times: ", group.names.size()) : std::string(),
      has_further ? without_words(group.message) : group.message, list_names(group.names));
  if (!has_further) return text;
  for (std::size_t i = 0; i < std::min(group.words.size(), kMaxWords); ++i) {
    text += fmt::format("    last words in {}: {}\n", group.words[i].name, group.words[i].text);
  }
  if (group.words.size() > kMaxWords) {
    text += fmt::format("    and {} other last words\n", group.words.size() - kMaxWords);
  }
  return text;
}

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxFullNames = 12;
  constexpr std::size_t kColumns = 100;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    std::string text = names.size() > kMaxFullNames ? case_of(name) : name;
    if (std::find(shown.begin(), shown.end(), text) == shown.end()) {
      shown.push_back(std::move(text));
    }
  }
  std::string text;
  std::size_t column = kColumns;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string word = shown[i] + (i + 1 < shown.size() ? "," : "");
    if (column + 1 + word.size() > kColumns) {
      text += text.empty() ? "    " : "\n    ";
      column = 4;
    } else {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

}  // namespace lloyd::apps

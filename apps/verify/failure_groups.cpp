#include "verify/failure_groups.hpp"

#include <algorithm>
#include <regex>

namespace lloyd::apps {
namespace {

// "lattice/ties/float32/layout=aos" becomes "lattice/ties".
std::string case_of(const std::string& name) {
  const std::size_t group = name.find('/');
  return group == std::string::npos ? name : name.substr(0, name.find('/', group + 1));
}

}  // namespace

std::string failure_cause(const std::string& message) {
  static const std::regex data("^('[^']*' )?n=[0-9]+ d=[0-9]+[^:]*: ");
  const std::string shown = message.substr(0, message.find("; last words: "));
  return std::regex_replace(shown, data, "");
}

const FailureGroups::Group& FailureGroups::add(const conformance::Result& failed) {
  const auto [entry, is_new] = index_.emplace(failure_cause(failed.message), groups_.size());
  if (is_new) groups_.push_back({failed.message, {}});
  groups_[entry->second].names.push_back(failed.name);
  return groups_[entry->second];
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

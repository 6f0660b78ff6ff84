#include "experiment/launch/launch.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "workers/find_program.hpp"

namespace lloyd::experiment {
namespace {

constexpr std::string_view kRanks = "{ranks}";

// Words are separated by blanks. Double quotes, anywhere in a word, keep the blanks between them.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool in_quotes = false;
  bool in_word = false;
  for (const char c : text) {
    if (!in_quotes && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '"') {
      in_quotes = !in_quotes;
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::vector<std::int64_t> read_ranks(const ConfigNode& node) {
  if (!node.is_sequence()) return {read_integer(node, "ranks", 1, kMaxRanks)};
  if (node.children.empty())
    node.fail("'ranks' is an empty list; it must hold at least one number of processes");
  std::vector<std::int64_t> ranks;
  for (const ConfigNode& child : node.children) {
    ranks.push_back(read_integer(child, "ranks", 1, kMaxRanks));
    if (std::count(ranks.begin(), ranks.end(), ranks.back()) > 1) {
      child.fail(fmt::format("'ranks' has {} twice", ranks.back()));
    }
  }
  return ranks;
}

std::string read_launcher(const ConfigNode& node) {
  std::string text = read_text(node, "launcher");
  if (std::count(text.begin(), text.end(), '"') % 2 != 0) {
    node.fail(fmt::format("'launcher' has a double quote that is not closed: '{}'", text));
  }
  const std::vector<std::string> words = words_of(text);
  // The program itself is found before the number is known.
  const auto has_ranks = [](const std::string& word) {
    return word.find(kRanks) != std::string::npos;
  };
  if (words.empty() || has_ranks(words.front()) ||
      std::none_of(words.begin(), words.end(), has_ranks)) {
    node.fail(fmt::format(
        "'launcher' must be a program and its options with {0} for the number of processes, such "
        "as 'mpirun -n {0}', not '{1}'",
        kRanks, text));
  }
  return text;
}

}  // namespace

const std::vector<std::string>& launch_keys() {
  static const std::vector<std::string> keys = {"ranks", "launcher"};
  return keys;
}

Launch read_launch(const MapReader& map) {
  Launch launch;
  if (const ConfigNode* ranks = map.find("ranks")) launch.ranks = read_ranks(*ranks);
  if (const ConfigNode* launcher = map.find("launcher")) {
    launch.launcher = read_launcher(*launcher);
    if (launch.ranks.empty()) {
      launcher->fail_at_key("'launcher' needs 'ranks', the numbers of processes");
    }
  }
  return launch;
}

std::vector<std::string> launcher_words(const Launch& launch, std::int64_t ranks) {
  std::vector<std::string> words = words_of(launch.launcher);
  const std::string number = fmt::format("{}", ranks);
  for (std::string& word : words) {
    for (std::size_t at = word.find(kRanks); at != std::string::npos; at = word.find(kRanks, at)) {
      word.replace(at, kRanks.size(), number);
      at += number.size();
    }
  }
  return words;
}

std::filesystem::path find_launcher(const Launch& launch) {
  return apps::find_program(words_of(launch.launcher).front());
}

}  // namespace lloyd::experiment

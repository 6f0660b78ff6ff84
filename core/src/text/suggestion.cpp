#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <lloyd/internal/shown.hpp>
#include <lloyd/internal/suggestion.hpp>

namespace lloyd {
namespace {

char to_lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Edit distance: the number of insertions, deletions, replacements and swaps of adjacent letters
// that turn one word into the other, ignoring case. Source: F. J. Damerau, "A technique for
// computer detection and correction of spelling errors", 1964 (restricted form: no letter is edited
// twice).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = to_lower(a[i - 1]);
      const char y = to_lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == to_lower(b[j - 2]) && to_lower(a[i - 2]) == y) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = 0;
  for (const std::string& candidate : candidates) {
    // A word is similar if at most a third of its letters are wrong. Comparing the lengths first
    // saves most distances, each of which costs the product of the lengths.
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (3 * (longer - std::min(word.size(), candidate.size())) > longer) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (3 * distance > longer) continue;
    if (nearest == nullptr || distance < nearest_distance) {
      nearest = &candidate;
      nearest_distance = distance;
    }
  }
  return nearest == nullptr ? std::string() : *nearest;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return " (there are none)";
  const std::string nearest = nearest_name(word, candidates);
  if (!nearest.empty()) return fmt::format(" (did you mean '{}'?)", shown(nearest, 100));
  return fmt::format(" (known: {})", shown_names(candidates));
}

}  // namespace lloyd

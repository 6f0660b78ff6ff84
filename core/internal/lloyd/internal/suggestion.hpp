// Suggestions for names that are not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd {

/// The candidate nearest to `word` by edit distance, or an empty text when none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);
/// " (did you mean 'x'?)" for the nearest candidate, or " (known: a, b, c)" when none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lloyd

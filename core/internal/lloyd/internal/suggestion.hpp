// Suggestions for unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lloyd {

/// The candidate with the smallest edit distance to `word`, or an empty text if none is similar.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);
/// The end of a message about an unknown name: " (did you mean 'x'?)" with the most similar
/// candidate, or " (known: a, b, c)" if none is similar.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lloyd

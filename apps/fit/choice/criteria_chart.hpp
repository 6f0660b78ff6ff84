// A chart of the criteria for choosing k, as SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fit/choice/cluster_suggestion.hpp"

namespace lloyd::apps {

/// An SVG document with four panels over k: inertia, simplified silhouette, Calinski-Harabasz and
/// Davies-Bouldin. `inertia(i)` is that of entry i of `tried`; values that are not finite leave a
/// gap in the line. A dashed line marks entry `suggested`. `title`, which may hold any text, is cut
/// if it is too long.
std::string criteria_svg(const std::string& title, std::span<const CriteriaOfK> tried,
                         const std::function<double(std::size_t i)>& inertia,
                         std::optional<std::size_t> suggested);

}  // namespace lloyd::apps

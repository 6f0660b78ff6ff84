// ClusterRange: the numbers of clusters that `lloyd fit -k` asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace lloyd::apps {

/// Accepts one number of clusters ("8"), a range ("2..20") or a range with a step ("2..20..3").
CLI::Validator cluster_range();

/// The numbers, ascending, that a text accepted by cluster_range() stands for; at least one. The
/// end of the range is included only if the steps reach it.
std::vector<std::int64_t> parse_cluster_range(const std::string& text);

}  // namespace lloyd::apps

#include "options/cluster_range.hpp"

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "text/whole_number.hpp"

namespace lloyd::apps {
namespace {

constexpr std::int64_t kMaxClusters = std::numeric_limits<std::int32_t>::max();
// Every k takes a fit, so a longer range is probably a typing error.
constexpr std::int64_t kMaxRangeFits = 10'000;

struct RangeBounds {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
};

std::optional<std::int64_t> parse_part(std::string part) {
  if (!whole_number(1, kMaxClusters)(part).empty()) return std::nullopt;
  return std::stoll(part);
}

// No value unless the text is FIRST..LAST or FIRST..LAST..STEP with FIRST <= LAST.
std::optional<RangeBounds> parse_bounds(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::size_t more_dots = text.find("..", dots + 2);
  const auto first = parse_part(text.substr(0, dots));
  const auto last = parse_part(text.substr(dots + 2, more_dots - dots - 2));
  const auto step = more_dots == std::string::npos ? std::optional<std::int64_t>(1)
                                                   : parse_part(text.substr(more_dots + 2));
  if (!first || !last || !step || *first > *last) return std::nullopt;
  return RangeBounds{*first, *last, *step};
}

}  // namespace

CLI::Validator cluster_range() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text.find("..") == std::string::npos) {
          const std::string fault = whole_number(1, kMaxClusters)(text);
          return fault.empty() ? fault : fault + "; a range is written as in 2..8";
        }
        const auto range = parse_bounds(text);
        if (!range) {
          return fmt::format(
              "'{}' is not an ascending range of whole numbers from 1 to {}, such as 2..20 or, "
              "with a step, 2..20..3",
              text, kMaxClusters);
        }
        if ((range->last - range->first) / range->step >= kMaxRangeFits) {
          return fmt::format(
              "'{}' holds more than {} numbers of clusters; use a step, as in {}..{}..{}", text,
              kMaxRangeFits, range->first, range->last, (range->last - range->first) / 10);
        }
        return {};
      },
      "");
}

std::vector<std::int64_t> parse_cluster_range(const std::string& text) {
  const auto range = text.find("..") == std::string::npos
                         ? RangeBounds{std::stoll(text), std::stoll(text), 1}
                         : parse_bounds(text).value();
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = range.first; k <= range.last; k += range.step) numbers.push_back(k);
  return numbers;
}

}  // namespace lloyd::apps

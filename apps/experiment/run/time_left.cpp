#include "experiment/run/time_left.hpp"

#include <algorithm>
#include <limits>

#include "experiment/statistics/statistics.hpp"

namespace lloyd::experiment {
namespace {

// Fixed cost of an iteration, in operations of its assignment: about 0.1 ms. Without it the
// estimate would be far too long during small settings.
constexpr double kOverhead = 1e5;

}  // namespace

TimeLeft::TimeLeft(const Plan& plan)
    : plan_(plan), left_(plan.fits.size()), variants_(plan.variants.size()) {
  for (const PlannedFit& fit : plan.fits) {
    if (fit.skip.empty()) left_[index_of(fit)] = plan.repeats;
  }
}

std::size_t TimeLeft::index_of(const PlannedFit& fit) const {
  return fit.setting * plan_.variants.size() + fit.variant;
}

double TimeLeft::work_of(const PlannedFit& fit) const {
  const PlannedSetting& planned = plan_.settings[fit.setting];
  const FitOptions& options = planned.setting.options;
  const double iteration = kOverhead + static_cast<double>(planned.dataset.samples) *
                                           static_cast<double>(planned.dataset.features) *
                                           static_cast<double>(options.clusters);
  // A fit that stops on convergence rarely takes more than some dozens of iterations.
  const auto iterations = static_cast<double>(
      options.fixed_iterations ? options.max_iterations
                               : std::min<std::int64_t>(options.max_iterations, 30));
  return iteration * iterations * static_cast<double>(options.restarts);
}

void TimeLeft::add(const PlannedFit& fit, double seconds, std::optional<double> fit_seconds) {
  pass_over(fit);
  VariantTrials& variant = variants_[fit.variant];
  const bool is_first = variant.trials++ == 0;
  if (fit_seconds) {
    Fits& fits = is_first ? variant.first : variant.later;
    fits.work += work_of(fit);
    fits.seconds += *fit_seconds;
  }
  if (!is_first) variant.rests.push_back(std::max(0.0, seconds - fit_seconds.value_or(0)));
}

void TimeLeft::pass_over(const PlannedFit& fit) {
  --left_[index_of(fit)];
}

std::optional<double> TimeLeft::pace_of(const VariantTrials& variant) {
  for (const Fits* fits : {&variant.later, &variant.first}) {
    if (fits->work > 0) return fits->seconds / fits->work;
  }
  return std::nullopt;
}

double TimeLeft::seconds() const {
  std::vector<double> paces;
  std::vector<double> rests;
  for (const VariantTrials& variant : variants_) {
    if (const auto pace = pace_of(variant)) paces.push_back(*pace);
    if (!variant.rests.empty()) rests.push_back(median(variant.rests));
  }
  if (paces.empty() && rests.empty()) return -1;
  const double usual_pace = paces.empty() ? 0 : median(paces);
  const double usual_rest = rests.empty() ? 0 : median(rests);
  std::vector<double> variant_paces;
  std::vector<double> variant_rests;
  for (const VariantTrials& variant : variants_) {
    // A variant whose trials have all failed spends no time in fits.
    variant_paces.push_back(variant.trials == 0 ? usual_pace : pace_of(variant).value_or(0));
    variant_rests.push_back(variant.rests.empty() ? usual_rest : median(variant.rests));
  }
  const double limit = plan_.isolation.timeout.value_or(std::numeric_limits<double>::infinity());
  double seconds = 0;
  for (const PlannedFit& fit : plan_.fits) {
    const std::int64_t trials = left_[index_of(fit)];
    if (trials <= 0) continue;
    const double trial = variant_paces[fit.variant] * work_of(fit) + variant_rests[fit.variant];
    seconds += static_cast<double>(trials) * std::min(trial, limit);
  }
  return seconds;
}

}  // namespace lloyd::experiment

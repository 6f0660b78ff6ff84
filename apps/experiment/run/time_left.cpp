#include "experiment/run/time_left.hpp"

#include <algorithm>

#include "experiment/statistics/statistics.hpp"

namespace lloyd::experiment {
namespace {

// Fixed cost of an iteration, in operations of its assignment: about 0.1 ms. Without it the
// estimate would be far too long during small settings.
constexpr double kOverhead = 1e5;

}  // namespace

TimeLeft::TimeLeft(const Plan& plan) : plan_(plan), variants_(plan.variants.size()) {
  for (const PlannedFit& fit : plan.fits) {
    if (!fit.skip.empty()) continue;
    variants_[fit.variant].work_left += work_of(fit) * static_cast<double>(plan.repeats);
    variants_[fit.variant].trials_left += plan.repeats;
  }
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
  variants_[fit.variant].work_left -= work_of(fit);
  --variants_[fit.variant].trials_left;
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
  double seconds = 0;
  for (const VariantTrials& variant : variants_) {
    if (variant.trials_left <= 0) continue;
    // A variant whose trials have all failed spends no time in fits.
    const double pace = variant.trials == 0 ? usual_pace : pace_of(variant).value_or(0);
    const double rest = variant.rests.empty() ? usual_rest : median(variant.rests);
    seconds +=
        pace * std::max(0.0, variant.work_left) + rest * static_cast<double>(variant.trials_left);
  }
  return seconds;
}

}  // namespace lloyd::experiment

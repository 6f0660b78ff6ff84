#include "common/shared_team.hpp"

#include <mutex>
#include <utility>

namespace lloyd_openmp {
namespace {

struct KeptTeam {
  std::mutex mutex;
  std::unique_ptr<lloyd::ThreadTeam> team;
};

// Never destroyed: its threads sleep until the process ends.
KeptTeam& kept_team() {
  static KeptTeam& kept = *new KeptTeam;
  return kept;
}

std::unique_ptr<lloyd::ThreadTeam> exchange_kept(std::unique_ptr<lloyd::ThreadTeam> team) {
  KeptTeam& kept = kept_team();
  const std::lock_guard lock(kept.mutex);
  return std::exchange(kept.team, std::move(team));
}

bool serves(const lloyd::ThreadTeam& team, int threads) {
  return team.threads() == threads && team.has_threads() &&
         team.mask() == lloyd::AffinityMask::of_this_thread();
}

}  // namespace

SharedTeam::SharedTeam(int threads) : team_(exchange_kept(nullptr)) {
  if (team_ == nullptr || !serves(*team_, threads)) {
    team_ = std::make_unique<lloyd::ThreadTeam>(threads);
  }
}

SharedTeam::~SharedTeam() {
  exchange_kept(std::move(team_));
}

}  // namespace lloyd_openmp

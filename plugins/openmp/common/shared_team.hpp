// SharedTeam: a thread team that outlives its session.
#pragma once

#include <memory>

#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd_openmp {

/// The thread team of a session. When the session ends, the process keeps the team for the next
/// one, because starting a thread takes longer than a pass over a small data set. Meanwhile its
/// threads sleep. Sessions may be opened and closed on any thread; a team serves one caller at a
/// time.
class SharedTeam {
 public:
  /// A team of at most `threads` threads: the kept one if it has the same maximum and the affinity
  /// mask of the calling thread, otherwise a new one.
  explicit SharedTeam(int threads);
  /// Keeps the team and ends the threads of the one that was kept before.
  ~SharedTeam();
  SharedTeam(const SharedTeam&) = delete;
  SharedTeam& operator=(const SharedTeam&) = delete;

  lloyd::ThreadTeam& operator*() const { return *team_; }
  lloyd::ThreadTeam* operator->() const { return team_.get(); }

 private:
  std::unique_ptr<lloyd::ThreadTeam> team_;
};

}  // namespace lloyd_openmp

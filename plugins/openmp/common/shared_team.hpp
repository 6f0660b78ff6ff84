// SharedTeam: a thread team that outlives its session.
#pragma once

#include <memory>

#include <lloyd/plugin/sdk/thread_team.hpp>

namespace lloyd_openmp {

/// A thread team for one session. The process keeps the team of a session that ends for the next
/// one, because starting threads takes longer than a fit of a small data set. Its threads sleep
/// meanwhile. Thread-safe, except that a team serves one caller at a time.
class SharedTeam {
 public:
  /// A team of at most `threads` threads: the one that is kept, if it has the same maximum and the
  /// affinity mask of the calling thread; otherwise a new one.
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

// Exit statuses of the program.
#pragma once

namespace lloyd::apps {

enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,        ///< a trial or a check failed
  kBadInput = 2,      ///< bad usage or input
  kSkipped = 3,       ///< `run --fail-if-skipped`: the trials ran, but some were skipped
  kInterrupted = 130  ///< SIGINT; finished work is kept
};

}  // namespace lloyd::apps

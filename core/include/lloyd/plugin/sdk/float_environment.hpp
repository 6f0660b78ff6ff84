// FloatEnvironment: sets the floating-point modes that the definitions assume.
#pragma once

#include <cfenv>

namespace lloyd {

/// Sets the default floating-point modes of this thread (round to nearest, subnormals kept) for its
/// lifetime, and restores the former modes afterwards.
class FloatEnvironment {
 public:
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace lloyd

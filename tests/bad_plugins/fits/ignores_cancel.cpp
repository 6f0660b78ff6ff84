// Continues after the observer has requested cancellation.
#include "bad_plugins/support/bad_plugin.hpp"

namespace {

class Deaf final : public lloyd::Observer {
 public:
  explicit Deaf(lloyd::Observer* observer) : observer_(observer) {}
  bool on_iteration(const lloyd::IterationRecord& record) noexcept override {
    if (observer_ != nullptr) observer_->on_iteration(record);
    return true;
  }
  bool stop_requested() const noexcept override { return false; }

 private:
  lloyd::Observer* observer_;
};

lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec, lloyd::Observer* observer,
                  lloyd::FitResult& result) {
  Deaf deaf(observer);
  return honest.fit(spec, &deaf, result);
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);

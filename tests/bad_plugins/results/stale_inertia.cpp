// Reports the inertia of the last iteration, before the final update.
#include "bad_plugins/support/bad_plugin.hpp"

namespace {

class LastInertia final : public lloyd::Observer {
 public:
  explicit LastInertia(lloyd::Observer* observer) : observer_(observer) {}
  bool on_iteration(const lloyd::IterationRecord& record) noexcept override {
    value = record.inertia;
    return observer_ == nullptr || observer_->on_iteration(record);
  }
  bool stop_requested() const noexcept override {
    return observer_ != nullptr && observer_->stop_requested();
  }
  double value = 0;

 private:
  lloyd::Observer* observer_;
};

lloyd::Status fit(lloyd::Session& honest, const lloyd::FitSpec& spec, lloyd::Observer* observer,
                  lloyd::FitResult& result) {
  lloyd::FitSpec observed = spec;
  observed.observe |= lloyd::kObserveInertia;
  LastInertia last(observer);
  const lloyd::Status status = honest.fit(observed, &last, result);
  result.inertia = last.value;
  return status;
}

}  // namespace

LLOYD_EXPORT_MISBEHAVIOUR(.fit = fit);

#include "fit/streamed_passes.hpp"

#include <lloyd/plugin/sdk/guard.hpp>

#include "dataset/source_windows.hpp"
#include "session/session_notes.hpp"
#include "session/status_error.hpp"

namespace lloyd {

StreamedPasses::StreamedPasses(std::shared_ptr<const LoadedBackend> backend, const Dataset& dataset,
                               const ParameterSet& parameters, std::int64_t window_rows,
                               KeepFailure keep_failure, std::string& notes)
    : backend_(std::move(backend)),
      dataset_(dataset),
      parameters_(parameters),
      blocks_(*dataset.source(), window_rows),
      keep_failure_(std::move(keep_failure)),
      notes_(notes) {}

Status StreamedPasses::begin(const PassOptions& options) noexcept {
  end();
  return guarded([&] {
    DatasetView view = dataset_.view();
    view.data = nullptr;
    view.required_capabilities |= kCapabilityRowWindows;
    Session* opened = nullptr;
    throw_if_error(backend_->backend().open(view, parameters_.list(), &opened));
    if (opened == nullptr) throw StatusError(StatusCode::internal, "open returned no session");
    SessionPointer session(opened);
    windowed_ = static_cast<WindowedPasses*>(session->query(kWindowedPasses));
    if (windowed_ == nullptr) {
      throw StatusError(StatusCode::internal,
                        "it declares that it reads rows in windows, but its session has no "
                        "WindowedPasses");
    }
    throw_if_error(windowed_->begin(options));
    session_ = std::move(session);
  });
}

void StreamedPasses::require_begun() const {
  if (session_ != nullptr) return;
  throw StatusError(StatusCode::invalid_argument, "there are no passes; call begin() first");
}

template <class Pass>
Status StreamedPasses::run(const Pass& pass) noexcept {
  return guarded([&] {
    require_begun();
    keep_failure_([&] {
      using Reading = SourceWindows::Reading;
      const bool on_load = reads_on_load_ && !before_;
      if (on_load && mapping_ == nullptr) mapping_ = blocks_.source().map();
      SourceWindows windows(blocks_, on_load ? Reading::on_load : Reading::ahead, mapping_.get(),
                            before_);
      const Status status = pass(windows);
      windows.rethrow_failure();
      throw_if_error(status);
      windows.finish();
      reads_on_load_ = blocks_.source().reads_in_parallel() && windows.was_fast();
    });
    notes_ = session_notes(*session_);
  });
}

Status StreamedPasses::pass(const PassRequest& request, Observer* observer,
                            PassResult& result) noexcept {
  const Status status =
      run([&](RowWindows& windows) { return windowed_->pass(request, windows, observer, result); });
  before_ = nullptr;
  return status;
}

Status StreamedPasses::farthest(std::int64_t wanted, Observer* observer, FarSample* samples,
                                std::int64_t* count) noexcept {
  return run([&](RowWindows& windows) {
    return windowed_->farthest(wanted, windows, observer, samples, count);
  });
}

Status StreamedPasses::labels(std::int32_t* labels) noexcept {
  return guarded([&] {
    require_begun();
    throw_if_error(windowed_->labels(labels));
  });
}

void StreamedPasses::end() noexcept {
  before_ = nullptr;
  if (session_ != nullptr) windowed_->end();
  windowed_ = nullptr;
  session_.reset();
  mapping_.reset();
  blocks_.release();
}

}  // namespace lloyd

// A wrapper of a correct backend that changes requests and results.
#pragma once

#include <functional>
#include <utility>

#include <lloyd/plugin/abi/backend.hpp>

namespace lloyd::bad {

/// Replacements for calls and hooks around them; `honest` is the wrapped object. Empty: no change.
struct Misbehaviour {
  std::function<Status(Backend& honest, const DatasetView& dataset, const ParameterList& parameters,
                       Session** session)>
      open = {};
  std::function<Status(Session& honest, const FitSpec& spec, Observer* observer, FitResult& result)>
      fit = {};
  std::function<void(PartialResult& result)> after_partial = {};
  std::function<Status(Session& honest, const LabelRequest& request, Observer* observer,
                       LabelResult& result)>
      label = {};
  std::function<Status(Session& honest, const PartialRequest& request, Observer* observer,
                       PartialResult& result)>
      partial = {};
  std::function<void()> before_estimate = {};
  std::function<void*(Session& honest, const char* interface_name)> query = {};
  std::function<void()> before_session_release = {};
  std::function<void()> before_backend_release = {};
};

class MisbehavingSession final : public Session {
 public:
  MisbehavingSession(Session* honest, const Misbehaviour& how) : honest_(honest), how_(how) {}

  Status fit(const FitSpec& spec, Observer* observer, FitResult& result) noexcept override {
    return how_.fit ? how_.fit(*honest_, spec, observer, result)
                    : honest_->fit(spec, observer, result);
  }
  Status label(const LabelRequest& request, Observer* observer,
               LabelResult& result) noexcept override {
    return how_.label ? how_.label(*honest_, request, observer, result)
                      : honest_->label(request, observer, result);
  }
  Status partial(const PartialRequest& request, Observer* observer,
                 PartialResult& result) noexcept override {
    const Status status = how_.partial ? how_.partial(*honest_, request, observer, result)
                                       : honest_->partial(request, observer, result);
    if (how_.after_partial) how_.after_partial(result);
    return status;
  }
  void* query(const char* name) noexcept override {
    return how_.query ? how_.query(*honest_, name) : honest_->query(name);
  }
  void release() noexcept override {
    if (how_.before_session_release) how_.before_session_release();
    honest_->release();
    delete this;
  }

 private:
  Session* honest_;
  const Misbehaviour& how_;
};

class MisbehavingBackend final : public Backend {
 public:
  MisbehavingBackend(Misbehaviour how, Backend* honest)
      : MisbehavingBackend(std::move(how), honest, *honest->info()) {}
  /// `info` replaces the wrapped backend's description.
  MisbehavingBackend(Misbehaviour how, Backend* honest, const BackendInfo& info)
      : how_(std::move(how)), honest_(honest), info_(info) {}

  const BackendInfo* info() const noexcept override { return &info_; }
  Status supports(const ProblemShape& shape, const ParameterList& parameters,
                  const FitSpec& spec) const noexcept override {
    return honest_->supports(shape, parameters, spec);
  }
  Status estimate(const ProblemShape& shape, const ParameterList& parameters, const FitSpec& spec,
                  MemoryEstimate& memory) const noexcept override {
    if (how_.before_estimate) how_.before_estimate();
    return honest_->estimate(shape, parameters, spec, memory);
  }
  Status open(const DatasetView& dataset, const ParameterList& parameters,
              Session** session) noexcept override {
    Session* honest = nullptr;
    const Status status = how_.open ? how_.open(*honest_, dataset, parameters, &honest)
                                    : honest_->open(dataset, parameters, &honest);
    if (status.ok() && honest != nullptr) *session = new MisbehavingSession(honest, how_);
    return status;
  }
  void* query(const char* name) noexcept override { return honest_->query(name); }
  void release() noexcept override {
    if (how_.before_backend_release) how_.before_backend_release();
    honest_->release();
    delete this;
  }

 private:
  Misbehaviour how_;
  Backend* honest_;
  BackendInfo info_;
};

}  // namespace lloyd::bad

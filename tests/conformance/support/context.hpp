// Context of a case: a backend, a data type and parameters; how a case fails or is skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lloyd/dataset.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/requests.hpp>
#include <lloyd/registry.hpp>

#include <lloyd/internal/refusal.hpp>
#include <lloyd/internal/status_text.hpp>

namespace lloyd::conformance {

/// Thrown to end a case as failed.
struct CaseFailed {
  std::string message;
};
/// Thrown to end a case as skipped.
struct CaseSkipped {
  std::string reason;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw CaseFailed{fmt::format(text, std::forward<Args>(args)...)};
}

template <class... Args>
void expect(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail(text, std::forward<Args>(args)...);
}

/// Whether a backend has written to samples in host memory, as its released sessions show.
class SamplesWatch {
 public:
  /// Called after a session on `dataset` was released.
  void look(const Dataset& dataset);
  bool changed() const { return changed_; }

 private:
  bool changed_ = false;
};

/// Owns a session and releases it.
class OwnedSession {
 public:
  explicit OwnedSession(Session* session) : session_(session) {}
  /// `dataset` must outlive it; `watch` looks at it after the release.
  OwnedSession(OwnedSession&& other, const Dataset& dataset, std::shared_ptr<SamplesWatch> watch)
      : OwnedSession(std::move(other)) {
    dataset_ = &dataset;
    watch_ = std::move(watch);
  }
  OwnedSession(OwnedSession&& other) noexcept
      : session_(std::exchange(other.session_, nullptr)),
        dataset_(other.dataset_),
        watch_(std::move(other.watch_)) {}
  OwnedSession& operator=(OwnedSession&&) = delete;
  ~OwnedSession() {
    if (session_ == nullptr) return;
    session_->release();
    if (watch_ != nullptr) watch_->look(*dataset_);
  }
  Session& operator*() const { return *session_; }
  Session* operator->() const { return session_; }

 private:
  Session* session_;
  const Dataset* dataset_ = nullptr;
  std::shared_ptr<SamplesWatch> watch_;  // null: the samples are not compared
};

/// The session that open() returned; fails the case if there is none.
OwnedSession opened(const Status& status, Session* session, const std::string& what);

class Context;

/// Calls `check` with each integer or real parameter at its minimum and at its maximum. A failure
/// names the parameter and its value. Returns the number of calls.
int for_ends_of_parameters(const Context& context,
                           const std::function<void(const Context& end)>& check);

/// See Suite::run().
using SettingReporter = std::function<void(const std::string& setting)>;

class Context {
 public:
  /// `report_setting`: see VariedParameter; null: nothing is reported. It must outlive the context.
  Context(const LoadedBackend& loaded, DType dtype, ParameterSet parameters,
          const SettingReporter* report_setting = nullptr)
      : loaded_(loaded),
        dtype_(dtype),
        parameters_(std::move(parameters)),
        report_setting_(report_setting) {}

  const LoadedBackend& loaded() const { return loaded_; }
  Backend& backend() const { return loaded_.backend(); }
  const BackendInfo& info() const { return loaded_.info(); }
  DType dtype() const { return dtype_; }
  const ParameterSet& parameters() const { return parameters_; }
  Accuracy accuracy() const { return loaded_.accuracy(dtype_); }
  bool exact() const { return accuracy() == Accuracy::exact; }
  Reproducibility reproducibility() const { return loaded_.reproducibility(dtype_); }
  bool canonical() const { return reproducibility() == Reproducibility::canonical; }
  /// True if the result's bits must not depend on how the work is divided.
  bool order_free() const { return reproducibility() <= Reproducibility::threads; }
  /// True if a repeated fit must give the same bits.
  bool repeatable() const { return reproducibility() != Reproducibility::none; }

  /// Why the backend's capabilities and limits exclude a fit; empty if they do not. Fails the case
  /// if supports() returns a status that is no refusal.
  std::string beyond(const Dataset& dataset, const FitSpec& spec) const {
    return beyond(dataset, spec, parameters_);
  }
  std::string beyond(const Dataset& dataset, const FitSpec& spec,
                     const ParameterSet& parameters) const {
    std::string reason = find_refusal(dataset, spec, parameters);
    if (!reason.empty()) refusal_ = reason;
    return reason;
  }
  /// As above, for a fit of k clusters that keeps empty clusters and has no tolerance.
  std::string beyond(const Dataset& dataset, std::int64_t clusters) const {
    return beyond(dataset, plain_spec(clusters));
  }
  /// Tells the reporter of settings about a parameter value; empty: no longer.
  void report_setting(const std::string& setting) const {
    if (report_setting_ != nullptr && *report_setting_) (*report_setting_)(setting);
  }
  /// The reason of the last fit that beyond() excluded; empty if it excluded none.
  const std::string& refusal() const { return refusal_; }
  /// A context with other parameters, which reports no settings.
  Context with(ParameterSet parameters) const {
    Context other(*this);
    other.parameters_ = std::move(parameters);
    other.report_setting_ = nullptr;
    return other;
  }
  /// True if the samples of a session that open() returned have changed.
  bool samples_changed() const { return watch_->changed(); }
  /// Opens a session for a fit; skips the case if the backend does not support it. `dataset` must
  /// outlive the session.
  OwnedSession open(const Dataset& dataset, const FitSpec& spec) const;
  /// As above, for fits of k clusters that keep empty clusters and have no tolerance.
  OwnedSession open(const Dataset& dataset, std::int64_t clusters) const {
    return open(dataset, plain_spec(clusters));
  }

 private:
  static FitSpec plain_spec(std::int64_t clusters);
  std::string find_refusal(const Dataset& dataset, const FitSpec& spec,
                           const ParameterSet& parameters) const;

  const LoadedBackend& loaded_;
  DType dtype_;
  ParameterSet parameters_;
  const SettingReporter* report_setting_;
  mutable std::string refusal_;
  std::shared_ptr<SamplesWatch> watch_ = std::make_shared<SamplesWatch>();
};

/// Reports for its lifetime that the calls of the backend use a parameter value which the name of
/// the case does not have, so that the message about a crash can name it.
class VariedParameter {
 public:
  VariedParameter(const Context& context, const char* name, const std::string& value)
      : context_(context) {
    context_.report_setting(fmt::format("{}={}", name, value));
  }
  ~VariedParameter() { context_.report_setting({}); }
  VariedParameter(const VariedParameter&) = delete;
  VariedParameter& operator=(const VariedParameter&) = delete;

 private:
  const Context& context_;
};

}  // namespace lloyd::conformance

// fit() and BackendSession: options, restarts, cancellation, and backends with false results.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/error.hpp>
#include <lloyd/evaluation.hpp>
#include <lloyd/fit.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "unit/support/experiment_fake_backend.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

using Lie = std::function<void(FitResult&, Status&)>;

// A correct backend whose fit results are falsified by `lie`.
Backend* make_liar(const Lie& lie) {
  bad::Misbehaviour how;
  how.fit = [lie](Session& honest, const FitSpec& spec, Observer* observer, FitResult& result) {
    Status status = honest.fit(spec, observer, result);
    lie(result, status);
    return status;
  };
  return new bad::MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>);
}

class Fits : public testing::Test {
 protected:
  Fits() : dataset_(make_blobs({.samples = 400, .features = 2, .centers = 6, .seed = 3})) {
    options_.clusters = 6;
  }

  Fit run(const Lie& lie, Observer* observer = nullptr) {
    const auto backend = std::make_shared<const LoadedBackend>(
        "fake", make_plugin_header("liar", "1"), make_liar(lie), std::vector<DeviceInfo>(1), "");
    BackendSession session(backend, dataset_, backend->default_parameters());
    return fit(session, options_, observer);
  }

  Dataset dataset_;
  FitOptions options_;
};

TEST_F(Fits, ParametersOfAnotherBackendAreRefused) {
  const auto backend = fake::make<fake::FakeStep>("fake");
  const ParameterSet none(nullptr, 0);
  constexpr ParameterInfo kOthers[] = {integer_parameter("threads", 0, 0, 2048, "0: all"),
                                       choice_parameter("layout", fake::kLayouts, "")};
  const ParameterSet others(kOthers, 2);
  for (const ParameterSet* const parameters : {&none, &others}) {
    const std::string expected =
        "fake: these parameters belong to another backend; default_parameters() and "
        "parameters_of() give those of this one";
    EXPECT_EQ(message_of<InputError>([&] { BackendSession(backend, dataset_, *parameters); }),
              expected);
    EXPECT_EQ(message_of<InputError>([&] { check_fit(*backend, dataset_, *parameters, options_); }),
              expected);
    EXPECT_EQ(message_of<InputError>([&] {
                estimate_memory(*backend, make_shape(dataset_, 6), *parameters,
                                make_spec(options_, 0));
              }),
              expected);
  }
}

TEST_F(Fits, HonestAnswersPass) {
  const Fit result = run([](FitResult&, Status&) {});
  EXPECT_FALSE(result.cancelled);
  EXPECT_EQ(result.result.inertia, inertia(dataset_, result.centroids, result.labels));
}

TEST_F(Fits, StagesAreReported) {
  options_.restarts = 2;
  const auto backend = fake::load("sequential");
  BackendSession session(backend, dataset_, backend->default_parameters());
  std::vector<std::string> stages;
  fit(session, options_, nullptr,
      [&](std::string_view stage, std::int64_t done, std::int64_t total) {
        if (done == total) stages.push_back(std::string(stage) + " " + std::to_string(total));
      });
  EXPECT_EQ(stages, (std::vector<std::string>{"seeding 6", "seeding 6", "checking 400"}));
}

TEST_F(Fits, EachLieIsNamed) {
  const double nan = std::nan("");
  const std::vector<std::pair<std::string, Lie>> lies = {
      {"the label of sample 7 is 6, with 6 clusters",
       [](FitResult& r, Status&) { r.labels[7] = 6; }},
      {"the label of sample 0 is -1", [](FitResult& r, Status&) { r.labels[0] = -1; }},
      {"the count of cluster 2 is ", [](FitResult& r, Status&) { ++r.counts[2]; }},
      {"centroid 1, feature 1 is nan", [=](FitResult& r, Status&) { r.centroids[3] = nan; }},
      {"it reports an inertia of ", [](FitResult& r, Status&) { r.inertia *= 1 + 1e-8; }},
      {"the inertia is nan", [=](FitResult& r, Status&) { r.inertia = nan; }},
      {"the inertia is -1", [](FitResult& r, Status&) { r.inertia = -1; }},
      {"it reports 0 iterations, where 1 to 300", [](FitResult& r, Status&) { r.iterations = 0; }},
      {"it reports 301 iterations", [](FitResult& r, Status&) { r.iterations = 301; }},
      {"its stop reason is 0", [](FitResult& r, Status&) { r.stop_reason = StopReason::none; }},
      {"the loop's time is -5 ms", [](FitResult& r, Status&) { r.loop_ms = -5; }},
      {"the loop's time is 1000000 ms", [](FitResult& r, Status&) { r.loop_ms = 1e6; }},
      {"the closing assignment's time is nan ms",
       [=](FitResult& r, Status&) { r.closing_ms = nan; }},
      {"without all of its results", [](FitResult& r, Status&) { r.valid = kValidLabels; }},
      {"cancelled without a request",
       [](FitResult&, Status& s) { s = Status::error(StatusCode::cancelled, ""); }},
      {"liar: out of memory",
       [](FitResult&, Status& s) { s = Status::error(StatusCode::out_of_memory, ""); }},
      {"liar: unknown status code 99",
       [](FitResult&, Status& s) { s.code = static_cast<StatusCode>(99); }},
      {"liar: a\\x0ab",
       [](FitResult&, Status& s) { s = Status::error(StatusCode::internal, "a\nb"); }},
  };
  for (const auto& [expected, lie] : lies) {
    const std::string message = message_of<BackendError>([&, &lie = lie] { run(lie); });
    EXPECT_NE(message.find(expected), std::string::npos) << expected << "\n" << message;
  }
}

TEST_F(Fits, MessageWithoutAnEndIsCut) {
  const std::string message = message_of<BackendError>([&] {
    run([](FitResult&, Status& s) {
      s.code = StatusCode::internal;
      std::fill(std::begin(s.message), std::end(s.message), 'x');
    });
  });
  EXPECT_EQ(message, "liar: " + std::string(sizeof(Status::message), 'x'));
}

TEST_F(Fits, SamplesThatTheProgramChangesAreNotBlamedOnThePlugin) {
  std::vector<float> values = {0, 1, 10, 11, 12, 20};
  const auto change = [&](Matrix matrix, float* value) {
    const Dataset dataset("mine", std::move(matrix));
    const auto backend = fake::load("sequential");
    BackendSession session(backend, dataset, backend->default_parameters());
    options_.clusters = 2;
    const Fit result = fit(session, options_);
    ++*value;
    session.check(result.centroids, result.labels, result.result.inertia);
  };
  EXPECT_EQ(
      message_of<InputError>([&] { change(Matrix::view(values.data(), 6, 1), values.data()); }),
      "mine: the samples were changed after the data set was made, by the program that owns them "
      "or by the plugin sequential; they must not change until the last session on the data set is "
      "closed");
  Matrix owned = Matrix::from_values(values, 6, 1);
  auto* const first = const_cast<float*>(static_cast<const float*>(owned.data));
  EXPECT_EQ(message_of<BackendError>([&] { change(owned, first); }),
            "sequential: the plugin changed the samples, which it may only read");
}

// The program changes a sample during the fit, and the backend fails over it.
TEST_F(Fits, AnErrorAfterAChangeOfTheSamplesNamesTheChange) {
  std::vector<float> values = {0, 1, 10, 11, 12, 20};
  const Dataset dataset("mine", Matrix::view(values.data(), 6, 1));
  const auto backend = std::make_shared<const LoadedBackend>(
      "fake", make_plugin_header("liar", "1"), make_liar([&](FitResult&, Status& status) {
        ++values[0];
        status = Status::error(StatusCode::internal, "a sum is out of range");
      }),
      std::vector<DeviceInfo>(1), "");
  BackendSession session(backend, dataset, backend->default_parameters());
  options_.clusters = 2;
  const std::string expected =
      "mine: the samples were changed after the data set was made, by the program that owns them "
      "or by the plugin liar; they must not change until the last session on the data set is "
      "closed";
  EXPECT_EQ(message_of<InputError>([&] { session.fit_from({0, 20}, options_); }), expected);
  EXPECT_EQ(message_of<InputError>([&] { fit(session, options_); }), expected);
}

TEST_F(Fits, ANullBackendIsRefused) {
  const auto backend = fake::load("sequential");
  EXPECT_EQ(message_of<InputError>(
                [&] { BackendSession session(nullptr, dataset_, backend->default_parameters()); }),
            "the backend is a null pointer; load_backend() and Registry::load() return one");
}

TEST_F(Fits, ASessionTakesParametersByName) {
  const auto backend = fake::make<fake::FakeStep>("fake");
  const auto threads = [&](const BackendSession& session) {
    return session.parameters().text("threads");
  };
  EXPECT_EQ(threads(BackendSession(backend, dataset_)), "0");
  EXPECT_EQ(threads(BackendSession(backend, dataset_, {})), "0");
  BackendSession session(backend, dataset_, {{"threads", "2"}});
  EXPECT_EQ(threads(session), "2");
  EXPECT_EQ(fit(session, options_).clusters, 6);
  EXPECT_EQ(threads(BackendSession(backend, dataset_, {{"threads", "3"}, {"layout", "aos"}})), "3");
  EXPECT_EQ(message_of<InputError>([&] {
              BackendSession(backend, dataset_, {{"thread", "2"}});
            }),
            "backend 'fake': unknown parameter 'thread' (did you mean 'threads'?)");
  EXPECT_EQ(message_of<InputError>([&] { BackendSession(nullptr, dataset_, {}); }),
            "the backend is a null pointer; load_backend() and Registry::load() return one");
}

// A session refers to its data set.
static_assert(std::is_constructible_v<BackendSession, std::shared_ptr<const LoadedBackend>,
                                      const Dataset&, const ParameterSet&>);
static_assert(!std::is_constructible_v<BackendSession, std::shared_ptr<const LoadedBackend>,
                                       Dataset, const ParameterSet&>);
static_assert(
    !std::is_constructible_v<BackendSession, std::shared_ptr<const LoadedBackend>, Dataset>);

TEST_F(Fits, OptionsOutOfRangeAreRefused) {
  const auto refusal = [&](const std::function<void(FitOptions&)>& change) {
    FitOptions options = options_;
    change(options);
    return message_of<InputError>([&] { check_options(options, dataset_); });
  };
  EXPECT_NE(refusal([](auto& o) { o.clusters = 0; }).find("clusters is 0"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.clusters = 401; }).find("1 to 400"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.restarts = 0; }).find("restarts is 0"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.max_iterations = 0; }).find("is 0"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.tolerance = -1; }).find("tolerance is -1"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.tolerance = std::nan(""); }).find("nan"), std::string::npos);
  EXPECT_EQ(
      refusal([](auto& o) { o.observe = 0x11; }),
      "observe is 0x11; it must consist of kObserve... bits, which are 0x1, 0x2, 0x4 and 0x8");
  EXPECT_EQ(refusal([](auto& o) { o.empty_clusters = static_cast<EmptyClusters>(3); }),
            "empty_clusters is 3; it must be EmptyClusters::relocate, keep or error");
  EXPECT_EQ(refusal([](auto& o) { o.seeding.rounds = 3; }),
            "seeding.rounds is set, but seeding.method is k-means++; only "
            "SeedingMethod::kmeans_parallel uses it");
  EXPECT_EQ(
      refusal([](auto& o) { o.seeding = {.method = SeedingMethod::random, .oversampling = 2}; }),
      "seeding.oversampling is set, but seeding.method is random; only "
      "SeedingMethod::kmeans_parallel uses it");
  EXPECT_EQ(
      message_of<InputError>([] { check_seeding({.method = static_cast<SeedingMethod>(9)}); }),
      "seeding.method is 9; it must be one of the enumerators of SeedingMethod");
}

TEST_F(Fits, AWrongNumberOfFeatureNamesIsRefused) {
  Dataset dataset("points", Matrix::from_values(std::vector<float>{1, 2, 3, 4}, 2, 2));
  dataset.feature_names = {"x"};
  EXPECT_EQ(message_of<InputError>([&] { check_options({.clusters = 2}, dataset); }),
            "points: there are 1 feature names for 2 features");
  dataset.feature_names = {"x", "y"};
  EXPECT_NO_THROW(check_options({.clusters = 2}, dataset));
}

TEST_F(Fits, SamplesWhoseSquaresVanishAreRefused) {
  const auto check = [](double unit, double offset) {
    const std::vector<double> samples = {offset, offset + unit, offset, offset + 0.9 * unit};
    check_options({.clusters = 2}, Dataset("tiny", Matrix::from_values(samples, 4, 1)));
  };
  EXPECT_NO_THROW(check(1e-145, 0));
  EXPECT_NO_THROW(check(0, 1));  // distances of equal samples are zero
  EXPECT_EQ(
      message_of<InputError>([&] { check(1e-160, 0); }),
      "the samples of tiny differ by so little that squared distances, at most 1e-320, are too "
      "near zero for float64 (limit 1e-300); scale the data up");
}

TEST_F(Fits, RestartsKeepTheLeastInertia) {
  options_.seeding = {.method = SeedingMethod::random, .seed = 1};
  double least = std::numeric_limits<double>::infinity();
  std::int64_t best = -1;
  const auto backend = fake::load("sequential");
  BackendSession session(backend, dataset_, backend->default_parameters());
  for (std::int64_t restart = 0; restart < 8; ++restart) {
    const Fit one = session.fit_from(
        seed_centroids(dataset_, options_.clusters, options_.seeding, restart), options_);
    if (one.result.inertia < least) {
      least = one.result.inertia;
      best = restart;
    }
  }
  options_.restarts = 8;
  const Fit result = fit(session, options_);
  EXPECT_EQ(result.result.inertia, least);
  EXPECT_EQ(result.restart, best);
  EXPECT_GT(best, 0) << "the case's own data: the first restart is the best";
}

TEST_F(Fits, OneRestartIsRunIfAllWouldBeTheSame) {
  options_.restarts = 3;
  for (const SeedingMethod method : seeding_methods()) {
    options_.seeding = {.method = method};
    if (method == SeedingMethod::file) {
      options_.seeding.centroids = seed_centroids(dataset_, options_.clusters, {});
    }
    int fits = 0;
    run([&](FitResult&, Status&) { ++fits; });
    EXPECT_EQ(fits, uses_seed(method) ? 3 : 1) << to_string(method);
    EXPECT_EQ(fits, restarts_to_run(options_)) << to_string(method);
  }
  options_.restarts = 0;
  EXPECT_EQ(message_of<InputError>([&] { run([](FitResult&, Status&) {}); }),
            "restarts is 0; it must be at least 1");
}

// Stops after a number of iterations, counted over all restarts.
class StopAt final : public Observer {
 public:
  explicit StopAt(std::int64_t iteration) : left_(iteration) {}
  bool on_iteration(const IterationRecord&) noexcept override { return --left_ > 0; }
  bool stop_requested() const noexcept override { return left_ <= 0; }

 private:
  std::int64_t left_;
};

TEST_F(Fits, CancelledFitHoldsCentroidsOnly) {
  options_.observe = kObserveIterations;
  options_.seeding.method = SeedingMethod::first;
  StopAt observer(2);
  const Fit result = run([](FitResult&, Status&) {}, &observer);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.result.iterations, 2);
  EXPECT_TRUE(result.labels.empty());
  EXPECT_TRUE(result.counts.empty());
  EXPECT_EQ(result.centroids.size(), 12u);
}

TEST_F(Fits, EarlierRestartOutlivesACancelledOne) {
  options_.observe = kObserveIterations;
  options_.restarts = 5;
  const Fit first = [&] {
    FitOptions one = options_;
    one.restarts = 1;
    const auto backend = fake::load("sequential");
    BackendSession session(backend, dataset_, backend->default_parameters());
    return fit(session, one);
  }();
  StopAt observer(first.result.iterations + 1);
  const Fit result = run([](FitResult&, Status&) {}, &observer);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.labels, first.labels);
  EXPECT_EQ(result.result.inertia, first.result.inertia);
}

TEST_F(Fits, SeedingCanBeStopped) {
  StopAt observer(0);
  const Fit result = run([](FitResult&, Status&) {}, &observer);
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(result.result.iterations, 0);
}

}  // namespace
}  // namespace lloyd

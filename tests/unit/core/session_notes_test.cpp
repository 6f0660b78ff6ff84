// Session notes: how they reach a Fit, in memory and in blocks.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <lloyd/data/blobs.hpp>
#include <lloyd/data/row_source.hpp>
#include <lloyd/fit.hpp>
#include <lloyd/plugin/abi/session_notes.hpp>

#include "bad_plugins/support/misbehaving.hpp"
#include "session/session_notes.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd {
namespace {

struct GivenNotes final : SessionNotes {
  const char* notes() const noexcept override { return silent ? nullptr : text.c_str(); }
  std::string text;
  bool silent = false;
};

class Notes : public testing::Test {
 protected:
  // A correct backend whose sessions all provide notes_.
  std::shared_ptr<const LoadedBackend> noting(bad::Misbehaviour how = {}) {
    how.query = [this](Session& honest, const char* name) -> void* {
      if (std::string_view(name) != kSessionNotes) return honest.query(name);
      return static_cast<SessionNotes*>(&notes_);
    };
    return std::make_shared<const LoadedBackend>(
        "fake", make_plugin_header("noting", "1"),
        new bad::MisbehavingBackend(std::move(how), new StepBackend<fake::FakeStep, fake::kInfo>),
        std::vector<DeviceInfo>(1), "");
  }

  std::string of_a_fit() {
    const auto backend = noting();
    BackendSession session(backend, dataset_, backend->default_parameters());
    return fit(session, {.clusters = 4}).notes;
  }

  GivenNotes notes_;
  Dataset dataset_ = make_blobs({.samples = 400, .features = 2, .centers = 4, .seed = 3});
};

TEST_F(Notes, ReachTheFit) {
  notes_.text = "centroids in constant memory, \xc3\xa0 64 KiB";
  EXPECT_EQ(of_a_fit(), notes_.text);
  notes_.text.clear();
  EXPECT_EQ(of_a_fit(), "");
}

TEST_F(Notes, AreEmptyWhereNoneAreOffered) {
  const auto backend = fake::load("sequential");
  BackendSession session(backend, dataset_, backend->default_parameters());
  EXPECT_EQ(fit(session, {.clusters = 4}).notes, "");
  notes_.silent = true;
  EXPECT_EQ(of_a_fit(), "");
}

TEST_F(Notes, ArePrintableAndOfLimitedLength) {
  notes_.text = "two\nlines\x1b[31m";
  EXPECT_EQ(of_a_fit(), "two?lines?[31m");
  notes_.text = std::string(511, 'x');
  EXPECT_EQ(of_a_fit(), notes_.text);
  notes_.text += "yz";
  EXPECT_EQ(of_a_fit(), std::string(511, 'x'));
}

TEST_F(Notes, OfBlocksAreThoseOfTheFirstBlockThatSummed) {
  constexpr std::int64_t kRows = 100;
  int calls = 0;
  const auto backend = noting({.after_partial = [&](PartialResult& result) {
    notes_.text = fmt::format("{} {}", result.sums == nullptr ? "labels" : "sums", calls++ % 4);
  }});
  const Dataset streamed(rows_of("streamed", dataset_.matrix()), kRows);
  BackendSession session(backend, streamed, backend->default_parameters(), kRows);
  const Fit found = fit(session, {.clusters = 4});
  EXPECT_EQ(found.result.relocations, 0) << "the case's own data: passes that only relocate";
  EXPECT_EQ(found.notes, "sums 0");
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> counts;
  session.label(found.centroids, 4, labels, counts);
  EXPECT_EQ(session_notes(session.session()), "labels 0");
}

}  // namespace
}  // namespace lloyd

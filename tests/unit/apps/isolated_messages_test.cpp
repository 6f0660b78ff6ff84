// Messages between a plugin's process and this program, and the treatment of malformed ones.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "isolated/messages.hpp"
#include "unit/support/experiment_fake_backend.hpp"

namespace lloyd::isolated {
namespace {

constexpr const char* kWords[] = {"fast", "exact"};

std::vector<ParameterInfo> schema_to_send() {
  return {integer_parameter("threads", 2, 1, 64, "how many"),
          number_parameter("limit", 0.1, -std::numeric_limits<double>::infinity(), 1e300, "\xff"),
          boolean_parameter("sorted", true, "whether"),
          choice_parameter("method", kWords, "which")};
}

class DescribedBackend final : public Backend {
 public:
  explicit DescribedBackend(const std::vector<ParameterInfo>& schema) {
    info_.summary = "a\nsummary";
    info_.algorithm = "lloyd";
    info_.capabilities = ~std::uint64_t{0};
    info_.preference = -7;
    info_.accuracy_float64 = Accuracy::exact;
    info_.parameters = schema.data();
    info_.parameter_count = static_cast<std::int64_t>(schema.size());
  }
  const BackendInfo* info() const noexcept override { return &info_; }
  Status supports(const ProblemShape&, const ParameterList&,
                  const FitSpec&) const noexcept override {
    return {};
  }
  Status estimate(const ProblemShape&, const ParameterList&, const FitSpec&,
                  MemoryEstimate&) const noexcept override {
    return {};
  }
  Status open(const DatasetView&, const ParameterList&, Session**) noexcept override { return {}; }
  void* query(const char*) noexcept override { return nullptr; }
  void release() noexcept override { delete this; }

 private:
  BackendInfo info_;
};

class IsolatedMessages : public testing::Test {
 protected:
  std::vector<ParameterInfo> schema_ = schema_to_send();
  LoadedBackend backend_{"file",
                         make_plugin_header("described", "1"),
                         new DescribedBackend(schema_),
                         {fake::gpu_device()},
                         "no driver"};
  std::string bytes_ = encode_description(backend_, {{"libgomp", "/lib/libgomp.so.1", 3}});
};

TEST_F(IsolatedMessages, ADescriptionArrivesAsItWas) {
  const Description description(bytes_);
  const BackendInfo& info = description.info;
  EXPECT_STREQ(info.summary, "a\nsummary");
  EXPECT_STREQ(info.algorithm, "lloyd");
  EXPECT_EQ(info.reproducibility_reason, nullptr);
  EXPECT_EQ(info.capabilities, ~std::uint64_t{0});
  EXPECT_EQ(info.preference, -7);
  EXPECT_EQ(info.accuracy_float64, Accuracy::exact);
  EXPECT_EQ(description.unavailable, "no driver");
  ASSERT_EQ(description.devices.size(), 1u);
  EXPECT_STREQ(description.devices[0].name, "NVIDIA H200");
  ASSERT_EQ(description.openmp_runtimes.size(), 1u);
  EXPECT_EQ(description.openmp_runtimes[0].path, "/lib/libgomp.so.1");
  EXPECT_EQ(description.openmp_runtimes[0].threads, 3);
  ASSERT_EQ(info.parameter_count, 4);
  EXPECT_STREQ(info.parameters[0].name, "threads");
  EXPECT_EQ(info.parameters[0].integer_maximum, 64);
  EXPECT_TRUE(std::isinf(info.parameters[1].number_minimum));
  EXPECT_STREQ(info.parameters[1].meaning, "\xff");
  ASSERT_EQ(info.parameters[3].choice_count, 2);
  EXPECT_STREQ(info.parameters[3].choices[1], "exact");
}

TEST_F(IsolatedMessages, AnythingElseIsRefused) {
  for (std::size_t size = 0; size < bytes_.size(); ++size) {
    EXPECT_THROW(Description(bytes_.substr(0, size)), InputError) << size;
  }
  EXPECT_THROW(Description(bytes_ + '\0'), InputError);
  EXPECT_THROW(Description(std::string(4096, '\xff')), InputError);
  EXPECT_THROW(decode_reply("garbage"), InputError);
  std::vector<ParameterValue> none;
  EXPECT_THROW(decode_question("garbage", none), InputError);
}

TEST_F(IsolatedMessages, AQuestionBringsValuesButNoPointers) {
  ParameterSet given = backend_.default_parameters();
  given.set("threads", "5");
  given.set("limit", "-0.25");
  given.set("method", "exact");
  Question question;
  question.kind = QuestionKind::estimate;
  question.shape.samples = 12;
  question.spec.clusters = 3;
  const double start = 0;
  question.spec.initial_centroids = &start;
  const std::string sent = encode_question(question, given.list());

  const ParameterSet defaults = backend_.default_parameters();
  const ParameterList list = defaults.list();
  std::vector<ParameterValue> values(list.values, list.values + list.count);
  const Question received = decode_question(sent, values);
  EXPECT_EQ(received.kind, QuestionKind::estimate);
  EXPECT_EQ(received.shape.samples, 12);
  EXPECT_EQ(received.spec.clusters, 3);
  EXPECT_EQ(received.spec.initial_centroids, nullptr);
  EXPECT_EQ(values[0].integer, 5);
  EXPECT_EQ(values[1].number, -0.25);
  EXPECT_EQ(values[3].integer, 1);
  EXPECT_STREQ(values[3].name, "method");
  values.pop_back();
  EXPECT_THROW(decode_question(sent, values), InputError);
}

TEST_F(IsolatedMessages, AReplyBringsStatusAndMemory) {
  Reply reply;
  reply.status = Status::error(StatusCode::unsupported, "at most 7 clusters");
  reply.memory.host_bytes = 1 << 20;
  const Reply received = decode_reply(encode_reply(reply));
  EXPECT_EQ(received.status.code, StatusCode::unsupported);
  EXPECT_STREQ(received.status.message, "at most 7 clusters");
  EXPECT_EQ(received.memory.host_bytes, 1 << 20);
}

}  // namespace
}  // namespace lloyd::isolated

// ParameterSet, and the suggestions in its messages.
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>
#include <lloyd/parameter_set.hpp>
#include <lloyd/plugin/abi/backend.hpp>

#include "json/parameters_json.hpp"
#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

constexpr const char* kLayouts[] = {"soa", "aos"};
constexpr std::array<ParameterInfo, 5> kSchema = {
    integer_parameter("threads", 2, 1, 1024, "worker threads"),
    number_parameter("slack", 0.5, 0, 1, "share of the bound"),
    boolean_parameter("pinned", false, "threads stay on their cores"),
    choice_parameter("layout", kLayouts, "order of values in memory"),
    integer_parameter("offset", 0, std::numeric_limits<std::int64_t>::lowest(),
                      std::numeric_limits<std::int64_t>::max(), "anything"),
};

ParameterSet parameters() {
  return ParameterSet(kSchema.data(), std::ssize(kSchema));
}

std::string refusal(std::string_view name, std::string_view text) {
  ParameterSet set = parameters();
  try {
    set.set(name, text);
  } catch (const InputError& error) {
    EXPECT_EQ(set.describe_changes(), "");
    return error.what();
  }
  return "accepted";
}

TEST(ParameterSet, HoldsTheDefaults) {
  const ParameterSet set = parameters();
  EXPECT_EQ(set.describe_changes(), "");
  const std::map<std::string, std::string> expected = {
      {"threads", "2"}, {"slack", "0.5"}, {"pinned", "false"}, {"layout", "soa"}, {"offset", "0"}};
  EXPECT_EQ(set.texts(), expected);
}

TEST(ParameterSet, HandsItsValuesToTheBackend) {
  ParameterSet set = parameters();
  set.set("threads", "1024");
  set.set("slack", "2.5e-1");
  set.set("pinned", "true");
  set.set("layout", "aos");
  set.set("offset", "-9223372036854775808");
  const ParameterList list = set.list();
  ASSERT_EQ(list.count, 5);
  EXPECT_EQ(list.integer("threads"), 1024);
  EXPECT_EQ(list.number("slack"), 0.25);
  EXPECT_TRUE(list.boolean("pinned"));
  EXPECT_EQ(list.choice("layout"), 1);
  EXPECT_EQ(list.integer("offset"), std::numeric_limits<std::int64_t>::lowest());
  for (std::size_t i = 0; i < kSchema.size(); ++i) {
    EXPECT_STREQ(list.values[i].name, kSchema[i].name);
    EXPECT_EQ(list.values[i].type, kSchema[i].type);
  }
}

std::string unreadable(const std::function<void(const ParameterList&)>& read) {
  const ParameterSet set = parameters();
  return message_of<StatusError>([&] { read(set.list()); });
}

TEST(ParameterList, ReadsAParameterByItsOwnTypeOnly) {
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.number("threads"); }),
            "the backend reads the parameter 'threads' with number(), but its schema declares it "
            "with integer_parameter(); read it with integer()");
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.integer("slack"); }),
            "the backend reads the parameter 'slack' with integer(), but its schema declares it "
            "with number_parameter(); read it with number()");
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.integer("layout"); }),
            "the backend reads the parameter 'layout' with integer(), but its schema declares it "
            "with choice_parameter(); read it with choice()");
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.choice("pinned"); }),
            "the backend reads the parameter 'pinned' with choice(), but its schema declares it "
            "with boolean_parameter(); read it with boolean()");
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.boolean("threads"); }),
            "the backend reads the parameter 'threads' with boolean(), but its schema declares it "
            "with integer_parameter(); read it with integer()");
}

TEST(ParameterList, ReadsDeclaredNamesOnly) {
  EXPECT_EQ(unreadable([](const ParameterList& list) { list.integer("thread"); }),
            "the backend reads the parameter 'thread', which its schema does not declare; it "
            "declares threads, slack, pinned, layout, offset");
  EXPECT_EQ(message_of<StatusError>([] { ParameterList().boolean("pinned"); }),
            "the backend reads the parameter 'pinned', which its schema does not declare; it "
            "declares none");
}

constexpr ParameterInfo kTwoParameters[] = {kSchema[0], kSchema[1]};

TEST(BackendInfo, CountsTheParametersThatItIsGiven) {
  constexpr BackendInfo kGiven = [] {
    BackendInfo info;
    info.set_parameters(kTwoParameters);
    return info;
  }();
  EXPECT_EQ(kGiven.parameters, kTwoParameters);
  EXPECT_EQ(kGiven.parameter_count, 2);
}

// Pointers to a temporary array would dangle.
template <class Schema>
concept TakesSchema = requires(BackendInfo info, Schema&& schema) {
  info.set_parameters(std::forward<Schema>(schema));
};
static_assert(TakesSchema<const ParameterInfo (&)[2]>);
static_assert(TakesSchema<ParameterInfo (&)[2]>);
static_assert(!TakesSchema<const ParameterInfo[2]>);
template <class Words>
concept TakesWords = requires(Words&& words) {
  choice_parameter("layout", std::forward<Words>(words), "");
};
static_assert(TakesWords<const char* const (&)[2]>);
static_assert(!TakesWords<const char* const[2]>);
static_assert(!TakesSchema<std::initializer_list<ParameterInfo>>);
static_assert(!TakesWords<std::initializer_list<const char*>>);

TEST(ParameterSet, IsJsonWithTheTypesOfItsSchema) {
  ParameterSet set = parameters();
  EXPECT_EQ(apps::parameters_json(set).dump(),
            R"({"threads":2,"slack":0.5,"pinned":false,"layout":"soa","offset":0})");
  set.set("slack", "1");
  set.set("pinned", "true");
  set.set("layout", "aos");
  set.set("offset", "-9223372036854775808");
  const std::string json =
      R"({"threads":2,"slack":1,"pinned":true,"layout":"aos","offset":-9223372036854775808})";
  EXPECT_EQ(apps::parameters_json(set).dump(), json);
  // In the form that external programs receive.
  EXPECT_EQ(apps::parameters_json(kSchema, set.list()).dump(), json);
  EXPECT_EQ(apps::parameters_json(ParameterSet(nullptr, 0)).dump(), "{}");
}

TEST(ParameterSet, DescribesChangesInTheOrderOfTheSchema) {
  ParameterSet set = parameters();
  set.set("layout", "aos");
  set.set("slack", "0.1");
  set.set("pinned", "false");
  EXPECT_EQ(set.describe_changes(), "slack=0.1 layout=aos");
  set.set("slack", "0.5");
  EXPECT_EQ(set.describe_changes(), "layout=aos");
}

TEST(ParameterSet, TextsAreReadBackToTheSameValues) {
  ParameterSet set = parameters();
  set.set("slack", "0.30000000000000004");
  set.set("pinned", "true");
  set.set("layout", "aos");
  ParameterSet again = parameters();
  for (const auto& [name, text] : set.texts()) again.set(name, text);
  EXPECT_EQ(again.texts(), set.texts());
  EXPECT_EQ(again.list().number("slack"), set.list().number("slack"));
}

TEST(ParameterSet, CopiesAreIndependent) {
  ParameterSet set = parameters();
  ParameterSet copy = set;
  copy.set("threads", "7");
  EXPECT_EQ(set.list().integer("threads"), 2);
  EXPECT_EQ(copy.list().integer("threads"), 7);
}

TEST(ParameterSet, RefusesUnknownNames) {
  EXPECT_EQ(refusal("thread", "2"), "unknown parameter 'thread' (did you mean 'threads'?)");
  EXPECT_EQ(refusal("colour", "2"),
            "unknown parameter 'colour' (known: threads, slack, pinned, layout, offset)");
  ParameterSet none(nullptr, 0);
  EXPECT_THROW(none.set("threads", "2"), InputError);
  EXPECT_EQ(none.list().count, 0);
}

TEST(ParameterSet, RefusesTextsThatAreNotIntegers) {
  EXPECT_EQ(refusal("threads", "two"),
            "parameter 'threads' is 'two', which is not an integer; it takes 1 to 1024");
  for (const char* text : {"", " 2", "2 ", "2.0", "2e1", "0x2", "+2", "2,3", "-"}) {
    EXPECT_NE(refusal("threads", text).find("which is not an integer"), std::string::npos) << text;
  }
  EXPECT_EQ(refusal("threads", "010"),
            "parameter 'threads' is '010', which has leading zeros; it takes 1 to 1024");
  EXPECT_NE(refusal("offset", "-01").find("leading zeros"), std::string::npos);
  EXPECT_NE(refusal("slack", "00.5").find("leading zeros"), std::string::npos);
  EXPECT_EQ(refusal("offset", "x"),
            "parameter 'offset' is 'x', which is not an integer; it takes any value");
}

TEST(ParameterSet, RefusesIntegersOutOfRange) {
  EXPECT_EQ(refusal("threads", "0"),
            "parameter 'threads' is '0', which is out of range; it takes 1 to 1024");
  EXPECT_EQ(refusal("threads", "1025"),
            "parameter 'threads' is '1025', which is out of range; it takes 1 to 1024");
  EXPECT_EQ(refusal("offset", "9223372036854775808"),
            "parameter 'offset' is '9223372036854775808', which is out of range; it takes any "
            "value");
}

TEST(ParameterSet, RefusesWrongNumbers) {
  EXPECT_EQ(refusal("slack", "half"),
            "parameter 'slack' is 'half', which is not a number; it takes 0 to 1");
  for (const char* text : {"-0.001", "1.0000001", "nan", "inf", "-inf", "1e999"}) {
    EXPECT_NE(refusal("slack", text).find("which is out of range; it takes 0 to 1"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(refusal("slack", "0.5x").find("not a number"), std::string::npos);
}

TEST(ParameterSet, RefusesWrongWords) {
  EXPECT_EQ(refusal("layout", "sao"), "parameter 'layout' is 'sao' (did you mean 'soa'?)");
  EXPECT_EQ(refusal("layout", "rows"), "parameter 'layout' is 'rows' (known: soa, aos)");
  EXPECT_EQ(refusal("pinned", "yes"),
            "parameter 'pinned' is 'yes', which is neither true nor false");
}

// A plugin built against headers with a larger entry.
TEST(ParameterSet, ReadsLargerSchemaEntries) {
  struct LargerInfo {
    ParameterInfo info;
    double added[3] = {1, 2, 3};
  };
  std::array<LargerInfo, kSchema.size()> schema;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    schema[i].info = kSchema[i];
    schema[i].info.struct_size = sizeof(LargerInfo);
  }
  ParameterSet set(&schema.front().info, std::ssize(schema));
  EXPECT_EQ(set.texts(), parameters().texts());
  set.set("layout", "aos");
  EXPECT_EQ(set.list().choice("layout"), 1);
  EXPECT_EQ(set.schema()[3].struct_size, sizeof(ParameterInfo));
}

TEST(ParameterSet, RefusesASchemaWithoutSizes) {
  ParameterInfo info = kSchema[0];
  info.struct_size = 0;
  EXPECT_THROW(ParameterSet(&info, 1), BackendError);
}

TEST(NearestName, ByEditDistance) {
  const std::vector<std::string> names = {"sequential", "openmp", "cuda-naive", "cuda-fused"};
  EXPECT_EQ(nearest_name("sequental", names), "sequential");   // missing letter
  EXPECT_EQ(nearest_name("opennmp", names), "openmp");         // extra letter
  EXPECT_EQ(nearest_name("cuda_naive", names), "cuda-naive");  // replaced letter
  EXPECT_EQ(nearest_name("opemnp", names), "openmp");          // swapped letters
  EXPECT_EQ(nearest_name("OpenMP", names), "openmp");          // letter case
  EXPECT_EQ(nearest_name("openmp", names), "openmp");
  EXPECT_EQ(nearest_name("cuda-fusde", names), "cuda-fused");
  EXPECT_EQ(nearest_name("tpu", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("openmp", {}), "");
}

TEST(NearestName, CountsASwapOnce) {
  EXPECT_EQ(nearest_name("sao", {"soa"}), "soa");
  EXPECT_EQ(nearest_name("abc", {"abd", "abe"}), "abd");  // equal distances: the first name
}

TEST(Suggestion, NamesTheNearestOrAll) {
  EXPECT_EQ(suggestion("randon", {"random", "first"}), " (did you mean 'random'?)");
  EXPECT_EQ(suggestion("best", {"random", "first"}), " (known: random, first)");
  EXPECT_EQ(suggestion("best", {}), " (there are none)");
}

TEST(Suggestion, ManyOrLongNamesAreCut) {
  std::vector<std::string> names;
  std::string first;
  for (int i = 100; i < 160; ++i) {
    names.push_back(std::to_string(i));
    if (i < 140) first += (i == 100 ? "" : ", ") + names.back();
  }
  EXPECT_EQ(suggestion("best", names), " (known: " + first + " and 20 more)");
  const std::string name(200, 'x');
  EXPECT_EQ(suggestion("best", {name}), " (known: " + name.substr(0, 100) + "...)");
  EXPECT_EQ(suggestion(name + "y", {name}), " (did you mean '" + name.substr(0, 100) + "...'?)");
}

}  // namespace
}  // namespace lloyd

// Model files: round trips and refusals. Models that are refused.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>
#include <lloyd/model.hpp>

#include "unit/support/temporary_folder.hpp"

namespace lloyd {
namespace {

class ModelFile : public testing::Test {
 protected:
  // The refusal of the text, without the file's name.
  std::string refusal(const std::string& text) const {
    const std::filesystem::path file = folder_.write("m.json", text);
    const std::string message = message_of<InputError>([&] { Model::load(file); });
    const std::string prefix = file.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  // A model of one cluster and two features, followed by `entries`.
  static std::string model(const std::string& entries) {
    return R"({"format": "lloyd-model", "version": 1, "clusters": 1, "features": 2, )" + entries +
           "}";
  }

  TemporaryFolder folder_;
};

TEST_F(ModelFile, ReadsBack) {
  Model written;
  written.clusters = 2;
  written.features = 1;
  written.feature_names = {"x"};
  written.centroids = {0.1, -1e300};
  const std::filesystem::path file = folder_.path() / "m.json";
  written.save(file);
  const Model model = Model::load(file);
  EXPECT_EQ(model.clusters, 2);
  EXPECT_EQ(model.feature_names, written.feature_names);
  EXPECT_EQ(model.centroids, written.centroids);
}

TEST_F(ModelFile, OfVersion010IsReadAndWrittenTheSame) {
  const std::filesystem::path stored = LLOYD_TESTS_FOLDER "/cli/written_by_0.1.0/model.json";
  const Model model = Model::load(stored);
  EXPECT_EQ(model.centroids, (std::vector<double>{-4.5, 4, 5, 4}));
  EXPECT_EQ(model.inertia, 2422.5);
  EXPECT_EQ(model.backend, "openmp");
  const std::filesystem::path copy = folder_.path() / "copy.json";
  model.save(copy);
  EXPECT_EQ(TemporaryFolder::read(copy), TemporaryFolder::read(stored));
}

TEST_F(ModelFile, ChecksTheMemoryBeforeReading) {
  const std::filesystem::path file = folder_.write("m.json", model(R"("centroids": [[1, 2]])"));
  std::vector<double> bytes;
  Model::load(file, [&](double needed) { bytes.push_back(needed); });
  const auto size = static_cast<double>(std::filesystem::file_size(file));
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes[0], size);
  EXPECT_GT(bytes[1], size);
  const auto refuse = [](double) { throw InputError("too large"); };
  EXPECT_EQ(message_of<InputError>([&] { Model::load(file, refuse); }), "too large");
}

TEST_F(ModelFile, RefusesPathsThatAreNotFiles) {
  EXPECT_EQ(message_of<InputError>([&] { Model::load(folder_.path()); }),
            folder_.path().string() + ": is not a regular file");
  const std::string missing = folder_.path() / "missing.json";
  EXPECT_EQ(message_of<InputError>([&] { Model::load(missing); }),
            missing + ": cannot be opened: No such file or directory");
}

TEST_F(ModelFile, NeedsAPath) {
  Model model;
  model.clusters = model.features = 1;
  model.centroids = {0};
  EXPECT_EQ(message_of<InputError>([&] { model.save(""); }),
            "the path of the file to write is empty");
  EXPECT_EQ(message_of<InputError>([] { Model::load(""); }),
            "the path of the file to read is empty");
}

TEST_F(ModelFile, RefusesDeepNesting) {
  const std::string sentence = "is not a model file: it is nested more than 4 levels deep";
  const std::string lists = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(refusal(lists), sentence);
  EXPECT_EQ(refusal(model(R"("centroids": [[1, )" + lists + "]]")), sentence);
  EXPECT_EQ(refusal(R"({"format": "lloyd-model", "version": )" + lists + "}"), sentence);
}

TEST_F(ModelFile, RefusesKeysGivenTwice) {
  EXPECT_EQ(refusal(model(R"("centroids": [[1, 2]], "clusters": 1)")),
            "is not a model file: it has the key 'clusters' twice");
  EXPECT_EQ(refusal(model(R"("centroids": [[1, 2]], "seeding": {"seed": 1, "seed": 2})")),
            "is not a model file: it has the key 'seed' twice");
}

TEST_F(ModelFile, RefusesWrongTypes) {
  EXPECT_EQ(refusal(R"({"format": "lloyd-model", "version": [1]})"),
            "the model's 'version' is of type array, not a number");
  EXPECT_EQ(refusal(R"({"format": "lloyd-model", "version": 1, "clusters": "1"})"),
            "the model's 'clusters' is of type string, not a count of at least 1");
  EXPECT_EQ(refusal(R"({"format": "lloyd-model", "version": 1, "clusters": 0})"),
            "the model's 'clusters' is 0, not a count of at least 1");
  EXPECT_EQ(refusal(model(R"("centroids": [[1, null]])")),
            "the model's centroid 0 has a value of type null, not a finite number");
}

TEST_F(ModelFile, RefusesNumbersOutOfRange) {
  const std::string centroids = R"("centroids": [[1, 2]], )";
  EXPECT_EQ(refusal(model(centroids + R"("seeding": {"seed": 1e20})")),
            "the model has a wrong entry: 'seeding.seed' is 1e+20, not an integer "
            "from 0 to 18446744073709551615");
  EXPECT_EQ(refusal(model(centroids + R"("samples": 1e300)")),
            "the model has a wrong entry: 'samples' is 1e+300, not an integer >= 0");
  EXPECT_EQ(
      refusal(model(centroids + R"("feature_names": [1, 2])")),
      "the model has a wrong entry: 'feature_names' is a list with 1 in it, not a list of texts");
  EXPECT_EQ(refusal(model(centroids + R"("inertia": "x")")),
            "the model has a wrong entry: 'inertia' is 'x', not a number >= 0");
}

TEST_F(ModelFile, RefusesAWrongNumberOfFeatureNames) {
  EXPECT_EQ(refusal(model(R"("centroids": [[1, 2]], "feature_names": ["x"])")),
            "the model's 'feature_names' are 1, but it has 2 features");
}

TEST_F(ModelFile, IsReadInTheDefaultRoundingMode) {
  Model model;
  model.clusters = 64;
  model.features = 1;
  for (std::int64_t c = 0; c < 64; ++c) {
    model.centroids.push_back(-std::sqrt(static_cast<double>(c)));
  }
  const std::filesystem::path file = folder_.path() / "m.json";
  model.save(file);
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    const Model found = Model::load(file);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found.centroids, model.centroids) << rounding;
  }
}

// A model of two centroids of one feature.
Model two_centroids() {
  Model model;
  model.clusters = 2;
  model.features = 1;
  model.centroids = {1, 2};
  return model;
}

TEST_F(ModelFile, IsNotWrittenWithValuesThatAreNotRead) {
  const std::filesystem::path file = folder_.path() / "m.json";
  Model model = two_centroids();
  model.inertia = -5;
  EXPECT_EQ(message_of<InputError>([&] { model.save(file); }),
            "the model cannot be saved: its inertia is -5, not a number >= 0");
  model.inertia = 0;
  model.samples = -1;
  EXPECT_EQ(message_of<InputError>([&] { model.save(file); }),
            "the model cannot be saved: its number of samples is -1, not an integer >= 0");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Models, OfNothingSaySo) {
  const std::vector<float> sample = {1};
  EXPECT_EQ(message_of<InputError>([&] { Model().predict(sample.data(), 1); }),
            "the model has no centroids, so it cannot label samples: it is empty, or the fit was "
            "cancelled before it had any");
}

TEST(Models, WhoseSizeOverflowsAreRefused) {
  Model model;
  model.clusters = model.features = std::int64_t{1} << 32;
  const std::vector<float> sample = {1};
  EXPECT_NE(message_of<InputError>([&] {
              model.predict(sample.data(), 1);
            }).find("the model has no centroids"),
            std::string::npos);
}

TEST(Models, RefuseAStandardizationOfOtherFeatures) {
  Model model = two_centroids();
  model.standardization = Standardization{{1, 1}, {2, 2}};
  EXPECT_EQ(message_of<InputError>([&] { model.centroids_in_data_units(); }),
            "the model cannot return centroids in data units: its standardization has 2 means for "
            "1 feature");
  model.standardization = Standardization{{1}, {2}};
  EXPECT_EQ(model.centroids_in_data_units(), (std::vector<double>{3, 5}));
}

}  // namespace
}  // namespace lloyd

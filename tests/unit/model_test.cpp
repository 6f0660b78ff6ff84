// Model files that are wrong, and data that does not fit a model.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <lloyd/error.hpp>

#include "context.hpp"
#include "model.hpp"
#include "temporary_folder.hpp"

namespace lloyd::apps {
namespace {

class ModelFile : public testing::Test {
 protected:
  // What is said of the text, with the file's name taken off.
  std::string refusal(const std::string& text) const {
    const std::filesystem::path file = folder_.write("m.json", text);
    const std::string message = message_of<InputError>([&] { read_model(file); });
    const std::string prefix = file.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }

  // A model of one cluster and two features; `entries` come after the others.
  static std::string model(const std::string& entries) {
    return R"({"format": "lloyd-model", "version": 1, "clusters": 1, "features": 2, )" + entries +
           "}";
  }

  std::string predict(const std::string& names, const std::string& data,
                      const std::vector<std::string>& more = {}) const {
    const std::string file =
        folder_.write("m.json", model(R"("centroids": [[1, 2]], "feature_names": )" + names));
    CLI::App app;
    Context context;
    add_predict_command(app, context);
    // CLI11 takes the arguments last first.
    std::vector<std::string> arguments = {folder_.write("t.csv", data), file, "predict"};
    arguments.insert(arguments.begin(), more.rbegin(), more.rend());
    // No backend has this name: what fits the model is refused only for that.
    arguments.insert(arguments.begin(), {"none", "--backend"});
    app.parse(arguments);
    std::string message = message_of<InputError>([&] { context.action(); });
    const std::size_t at = message.find(file);
    return at == std::string::npos ? message : message.replace(at, file.size(), "m.json");
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
  write_model(file, written);
  const Model model = read_model(file);
  EXPECT_EQ(model.clusters, 2);
  EXPECT_EQ(model.feature_names, written.feature_names);
  EXPECT_EQ(model.centroids, written.centroids);
}

TEST_F(ModelFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(message_of<InputError>([&] { read_model(folder_.path()); }),
            folder_.path().string() + ": is not a regular file");
  const std::string missing = folder_.path() / "missing.json";
  EXPECT_EQ(message_of<InputError>([&] { read_model(missing); }),
            missing + ": cannot be opened: No such file or directory");
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

TEST_F(ModelFile, RefusesNumbersThatItsEntriesDoNotHold) {
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

TEST_F(ModelFile, RefusesFeatureNamesOfAnotherNumber) {
  EXPECT_EQ(refusal(model(R"("centroids": [[1, 2]], "feature_names": ["x"])")),
            "the model's 'feature_names' are 1, but it has 2 features");
}

TEST_F(ModelFile, PredictRefusesFeaturesOfOtherNames) {
  const std::string accepted = predict("[]", "1,2\n");
  EXPECT_NE(accepted.find("none"), std::string::npos) << accepted;
  EXPECT_EQ(predict(R"(["x", "y"])", "y,x\n1,2\n"),
            "feature 0 of t.csv is 'y', but that of the model m.json is 'x'; --columns x,y gives "
            "the features the model's order");
  EXPECT_EQ(predict(R"(["x", "y"])", "x,z\n1,2\n"),
            "feature 1 of t.csv is 'z', but that of the model m.json is 'y'");
  EXPECT_EQ(predict(R"(["x", "y"])", "y,x\n1,2\n", {"--columns", "x,y"}), accepted);
  EXPECT_EQ(predict(R"(["x", "y"])", "x,y\n1,2\n"), accepted);
  EXPECT_EQ(predict(R"(["x", "y"])", "1,2\n"), accepted);
  EXPECT_EQ(predict("[]", "y,x\n1,2\n"), accepted);
  EXPECT_EQ(predict(R"(["x", "y"])", "1,2,3\n"),
            "t.csv has 3 features, but the model m.json has 2");
}

}  // namespace
}  // namespace lloyd::apps

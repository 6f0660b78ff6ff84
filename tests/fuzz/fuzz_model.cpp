// Model files. An accepted model must survive writing and rereading, and is then written to the
// same bytes.
#include <optional>

#include <lloyd/model.hpp>

#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  static const TemporaryFolder folder;
  std::optional<Model> model;
  fuzz::expect_refusal_or(
      [&] { model.emplace(Model::load(input.hold(fuzz::text_of(data, size)))); });
  if (!model) return 0;
  const std::filesystem::path copy = folder.path() / "copy.json";
  model->save(copy);
  const std::string bytes = TemporaryFolder::read(copy);
  const Model again = Model::load(copy);
  fuzz::require(again.centroids == model->centroids && again.clusters == model->clusters &&
                    again.feature_names == model->feature_names && again.seed == model->seed,
                "a model is another one after writing and reading it");
  again.save(copy);
  fuzz::require(TemporaryFolder::read(copy) == bytes, "a model is written in two ways");
  return 0;
}

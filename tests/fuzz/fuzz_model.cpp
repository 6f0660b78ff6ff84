// Model files. An accepted model must survive writing and rereading, and is then written to the
// same bytes.
#include <optional>

#include "fit/model.hpp"
#include "fuzz.hpp"
#include "unit/support/temporary_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  static const TemporaryFolder folder;
  std::optional<apps::Model> model;
  fuzz::expect_refusal_or(
      [&] { model.emplace(apps::read_model(input.hold(fuzz::text_of(data, size)))); });
  if (!model) return 0;
  const std::filesystem::path copy = folder.path() / "copy.json";
  apps::write_model(copy, *model);
  const std::string bytes = TemporaryFolder::read(copy);
  const apps::Model again = apps::read_model(copy);
  fuzz::require(again.centroids == model->centroids && again.clusters == model->clusters &&
                    again.feature_names == model->feature_names && again.seed == model->seed,
                "a model is another one after writing and reading it");
  apps::write_model(copy, again);
  fuzz::require(TemporaryFolder::read(copy) == bytes, "a model is written in two ways");
  return 0;
}

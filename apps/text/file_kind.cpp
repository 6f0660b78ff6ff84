#include "text/file_kind.hpp"

#include <lloyd/data/files.hpp>

namespace lloyd::apps {

std::string file_kind(const std::filesystem::path& file) {
  if (find_format(file)) return "a data file";
  const std::string extension = lower_case_extension(file);
  if (extension == ".yaml" || extension == ".yml") return "the YAML file of an experiment";
  if (extension == ".jsonl") return "a file of records";
  if (extension == ".json") return "a .json file, as models of 'lloyd fit' are";
  if (extension == ".html") return "a page of 'lloyd report'";
  return {};
}

}  // namespace lloyd::apps

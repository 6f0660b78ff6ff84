#include <lloyd/data/npz.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

#include "data/npy/npy_rows.hpp"
#include "data/npz/unpacked_member.hpp"
#include "data/npz/zip_directory.hpp"
#include "data/rows/read_all.hpp"

namespace lloyd {
namespace {

constexpr std::string_view kSuffix = ".npy";

// The arrays, under their names without the suffix.
std::vector<ZipMember> arrays_of(const InputFile& file) {
  std::vector<ZipMember> arrays = read_zip_directory(file);
  std::erase_if(arrays, [](const ZipMember& each) { return !each.name.ends_with(kSuffix); });
  for (ZipMember& each : arrays) each.name.resize(each.name.size() - kSuffix.size());
  if (arrays.empty()) throw InputError(fmt::format("{}: holds no arrays", file.path()));
  return arrays;
}

ZipMember choose_array(const InputFile& file, const std::string& name) {
  const std::vector<ZipMember> arrays = arrays_of(file);
  if (name.empty() && arrays.size() == 1) return arrays.front();
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const ZipMember& each) { return each.name == name; });
  if (found != arrays.end()) return *found;
  std::vector<std::string> names;
  for (const ZipMember& each : arrays) names.push_back(each.name);
  throw InputOptionError(fmt::format("{}: {}; the arrays are {}; the dataset option chooses one",
                                     file.path(),
                                     name.empty() ? std::string("holds several arrays")
                                                  : fmt::format("has no array '{}'", shown(name)),
                                     shown_names(names)));
}

}  // namespace

std::unique_ptr<RowSource> open_npz_rows(const std::filesystem::path& file,
                                         const std::string& array) {
  const auto archive = std::make_shared<const InputFile>(file);
  const ZipMember member = choose_array(*archive, array);
  const std::string name = file.filename().string();
  if (member.deflated) {
    return std::make_unique<NpyRows>(name, unpack(*archive, member), 0, member.bytes);
  }
  verify_checksum(*archive, member);
  return std::make_unique<NpyRows>(name, archive, member.offset, member.bytes);
}

Matrix read_npz(const std::filesystem::path& file, const std::string& array) {
  return read_all(*open_npz_rows(file, array));
}

}  // namespace lloyd

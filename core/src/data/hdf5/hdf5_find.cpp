#include "data/hdf5/hdf5_find.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/shown.hpp>

namespace lloyd {
namespace {

// The library opens an object by its path from the root, which takes time by its length.
constexpr int kMaxDepth = 64;

struct Candidate {
  std::string name;
  int dimensions = 0;
};

struct Search {
  hid_t file;
  std::vector<Candidate> found;
  bool ended = false;  // at an object that lies deeper than kMaxDepth
};

// To determine the shape of a virtual data set the library opens its sources, which may be pipes.
bool is_virtual(hid_t dataset) {
  const Hdf5Handle creation(hdf5().H5Dget_create_plist(dataset), hdf5().H5Pclose);
  return hdf5().H5Pget_layout(creation.id()) == H5D_VIRTUAL;
}

// Number of dimensions of a numeric data set; 0 for everything else, 2 for a virtual data set.
int dimensions_of(hid_t object) {
  if (hdf5().H5Iget_type(object) != H5I_DATASET) return 0;
  const Hdf5Handle type(hdf5().H5Dget_type(object), hdf5().H5Tclose);
  const H5T_class_t kind = hdf5().H5Tget_class(type.id());
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return 0;
  if (is_virtual(object)) return 2;
  const Hdf5Handle space(hdf5().H5Dget_space(object), hdf5().H5Sclose);
  return hdf5().H5Sget_simple_extent_ndims(space.id());
}

herr_t visit(hid_t, const char* name, const H5L_info_t* link, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (std::count(name, name + std::strlen(name), '/') >= kMaxDepth) {
    search.ended = true;
    return 1;
  }
  if (link->type != H5L_TYPE_HARD) return 0;
  const Hdf5Handle object(hdf5().H5Oopen(search.file, name, H5P_DEFAULT), hdf5().H5Oclose);
  if (!object.valid()) return 0;
  const int dimensions = dimensions_of(object.id());
  if (dimensions != 1 && dimensions != 2) return 0;
  try {
    search.found.push_back({name, dimensions});
  } catch (...) {
    return -1;  // no exception may propagate through the library
  }
  return 0;
}

// Lists the first names, in alphabetical order, as they were found.
std::string list(const std::vector<Candidate>& candidates, bool ended) {
  constexpr std::size_t kLimit = 20;
  std::string names;
  for (std::size_t i = 0; i < std::min(candidates.size(), kLimit); ++i) {
    names += (i == 0 ? "" : ", ") + shown(candidates[i].name);
  }
  if (!ended && candidates.size() <= kLimit) return names;
  return names + (names.empty() ? "..." : ", ...");
}

Search find_all(const std::string& path, const Hdf5Handle& file) {
  Search search{file.id(), {}};
  if (hdf5().H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &search) < 0) {
    throw InputError(fmt::format("{}: the HDF5 file cannot be searched: {}", path, hdf5_reason()));
  }
  if (search.found.empty() && !search.ended) {
    throw InputError(fmt::format(
        "{}: the HDF5 file holds no data set of numbers with one or two dimensions", path));
  }
  return search;
}

std::string choose(const std::string& path, const Search& search) {
  if (search.ended) {
    throw InputOptionError(fmt::format(
        "{}: the groups of the HDF5 file are nested more than {} deep, too deep for a search; the "
        "option 'dataset' says which data set is meant",
        path, kMaxDepth));
  }
  const std::vector<Candidate>& all = search.found;
  std::vector<Candidate> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [](const Candidate& candidate) { return candidate.dimensions == 2; });
  if (found.empty()) found = all;
  if (found.size() == 1) return found.front().name;
  throw InputOptionError(
      fmt::format("{}: the HDF5 file holds {} data sets, {}; choose one with the option 'dataset'",
                  path, found.size(), list(found, false)));
}

// Called before an external file is opened; a negative value prevents that.
herr_t refuse_external_link(const char*, const char*, const char* other, const char*, unsigned*,
                            hid_t, void* found) {
  try {
    *static_cast<std::string*>(found) = other;
  } catch (...) {
    return -1;  // no exception may propagate through the library
  }
  return -1;
}

}  // namespace

Hdf5Handle find_hdf5_dataset(const std::string& path, const Hdf5Handle& file,
                             const std::string& dataset) {
  const std::string name = dataset.empty() ? choose(path, find_all(path, file)) : dataset;
  std::string other;
  const Hdf5Handle access(hdf5().H5Pcreate(hdf5().dataset_access_class()), hdf5().H5Pclose);
  hdf5().H5Pset_elink_cb(access.id(), refuse_external_link, &other);
  Hdf5Handle opened(hdf5().H5Dopen2(file.id(), name.c_str(), access.id()), hdf5().H5Dclose);
  if (!other.empty()) {
    throw InputError(fmt::format(
        "{}: the data set lies in another file, {}, through an external link; that file can "
        "be named instead",
        path, shown(other, 1000)));
  }
  if (opened.valid() && is_virtual(opened.id())) {
    throw InputError(
        fmt::format("{}: the data set is virtual, composed of other data sets; h5repack makes "
                    "one that holds its values",
                    path));
  }
  if (opened.valid()) return opened;
  const std::string reason = hdf5_reason();
  const Search search = find_all(path, file);
  throw InputError(fmt::format("{}: the data set '{}' cannot be opened: {}; there are {}", path,
                               shown(name), reason, list(search.found, search.ended)));
}

}  // namespace lloyd

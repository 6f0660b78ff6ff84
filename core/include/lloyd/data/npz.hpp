// Reads NumPy's .npz files, which hold several arrays.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/data/row_source.hpp>
#include <lloyd/dataset.hpp>

namespace lloyd {

/// Opens an array of a file that numpy.savez() or numpy.savez_compressed() has written: a ZIP
/// archive of .npy files. `array` is its name, such as "arr_0"; empty if the file has a single
/// array. A stored array is read in place; a compressed one is unpacked to an unnamed file in the
/// folder for temporary files (TMPDIR), which needs space for it. Checksums are verified.
/// Throws InputError, with the names of the arrays if `array` does not choose one, and for whatever
/// read_npy() refuses.
std::unique_ptr<RowSource> open_npz_rows(const std::filesystem::path& file,
                                         const std::string& array = {});

/// Reads an array into memory. Throws as above.
Matrix read_npz(const std::filesystem::path& file, const std::string& array = {});

}  // namespace lloyd

// HDF5 files as row sources and row writers.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_writer.hpp>

namespace lloyd {

/// Takes what read_hdf5 takes, and throws what it throws.
std::unique_ptr<RowSource> open_hdf5_rows(const std::filesystem::path& file,
                                          const std::string& dataset);

/// Writes the data set "data", in chunks.
std::unique_ptr<RowWriter> create_hdf5_rows(const std::filesystem::path& file,
                                            const TableFormat& table);

}  // namespace lloyd

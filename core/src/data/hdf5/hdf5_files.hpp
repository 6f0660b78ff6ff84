// HDF5 files as row sources and row writers.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <lloyd/data/row_source.hpp>
#include <lloyd/data/row_writer.hpp>

namespace lloyd {

/// Opens an HDF5 data set to read it block by block. Accepts and throws what read_hdf5() does.
std::unique_ptr<RowSource> open_hdf5_rows(const std::filesystem::path& file,
                                          const std::string& dataset);

/// Creates an HDF5 file with the data set "data", stored in chunks.
std::unique_ptr<RowWriter> create_hdf5_rows(const std::filesystem::path& file,
                                            const TableFormat& table);

}  // namespace lloyd

// The row writers of the formats; see create_rows().
#pragma once

#include <filesystem>
#include <memory>

#include <lloyd/data/row_writer.hpp>

namespace lloyd {

std::unique_ptr<RowWriter> create_npy_rows(const std::filesystem::path& file,
                                           const TableFormat& table);
std::unique_ptr<RowWriter> create_csv_rows(const std::filesystem::path& file,
                                           const TableFormat& table);
std::unique_ptr<RowWriter> create_fvecs_rows(const std::filesystem::path& file,
                                             const TableFormat& table);

}  // namespace lloyd

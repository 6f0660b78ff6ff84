// The directory of a ZIP archive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/io/input_file.hpp"

namespace lloyd {

/// A file in an archive. Its data lies inside the archive.
struct ZipMember {
  std::string name;
  bool deflated = false;          ///< false: stored as it is
  std::uint32_t crc = 0;          ///< CRC-32 of the unpacked data
  std::int64_t offset = 0;        ///< of the data in the archive
  std::int64_t packed_bytes = 0;  ///< size of the data in the archive
  std::int64_t bytes = 0;         ///< unpacked size
};

/// Reads the central directory and finds the data of every member. Throws InputError unless the
/// file is an archive in one part whose members are stored or deflated, are not encrypted and lie
/// inside the file, and whose directory has at most 16 MiB. Format: PKWARE, APPNOTE.TXT 6.3.10,
/// sections 4.3.7 to 4.3.16 and 4.5.3, with the 64-bit extension.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

}  // namespace lloyd

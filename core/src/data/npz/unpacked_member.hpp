// Unpacking of a member of a ZIP archive.
#pragma once

#include <memory>

#include "data/io/input_file.hpp"
#include "data/npz/zip_directory.hpp"

namespace lloyd {

/// Unpacks a deflated member to an unnamed file in the folder for temporary files. Messages about
/// that file name the archive. Throws InputError if the data is damaged or the folder has no space
/// for it.
std::shared_ptr<const InputFile> unpack(const InputFile& archive, const ZipMember& member);

/// Reads a stored member. Throws InputError if its checksum is wrong.
void verify_checksum(const InputFile& archive, const ZipMember& member);

}  // namespace lloyd

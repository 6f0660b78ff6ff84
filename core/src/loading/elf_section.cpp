#include "loading/elf_section.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/descriptors.hpp>

namespace lloyd {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& file) : name_(file.string()) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) fail("is not a file");
    stream_.open(file, std::ios::binary);
    if (!stream_) {
      const int reason = errno;
      const std::string text =
          fmt::format("{} cannot be opened: {}", name_, descriptor_error(reason));
      // A shortage of resources is no fault of the file.
      if (reason == EMFILE || reason == ENFILE || reason == ENOMEM) throw Error(text);
      throw InputError(text);
    }
    size_ = std::filesystem::file_size(file, error);
    if (error) fail("cannot be read");
    if (size_ < sizeof(header_)) fail("is not a shared library: it is too short for an ELF header");
    header_ = read<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) fail("is not a shared library");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      fail("is a shared library, but not a 64-bit little-endian one");
    }
    if (header_.e_machine != kMachine) {
      fail(fmt::format("is for another kind of machine (ELF machine {}, this one is {})",
                       header_.e_machine, kMachine));
    }
    if (header_.e_type != ET_DYN) fail("is an ELF file, but not a shared library");
    if (header_.e_shnum != 0 && header_.e_shentsize != sizeof(Elf64_Shdr)) {
      fail("has a damaged section table");
    }
  }

  Elf64_Shdr section(std::size_t index) const {
    if (index >= header_.e_shnum) fail("has a damaged section table");
    return read<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::size_t sections() const { return header_.e_shnum; }

  std::string section_name(const Elf64_Shdr& section) const {
    const Elf64_Shdr names = this->section(header_.e_shstrndx);
    if (section.sh_name >= names.sh_size) fail("has a damaged section table");
    const auto length = std::min<std::uint64_t>(names.sh_size - section.sh_name, 64);
    const std::vector<std::byte> text = bytes(names.sh_offset + section.sh_name, length);
    const auto end = std::find(text.begin(), text.end(), std::byte{0});
    return {reinterpret_cast<const char*>(text.data()),
            static_cast<std::size_t>(end - text.begin())};
  }

  std::vector<std::byte> bytes(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > size_ - offset) fail("is truncated");
    std::vector<std::byte> result(count);
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(result.data()), static_cast<std::streamsize>(count));
    if (!stream_) fail("cannot be read");
    return result;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("{} {}", name_, what));
  }

 private:
  template <class T>
  T read(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string name_;
  mutable std::ifstream stream_;
  std::uint64_t size_ = 0;
  Elf64_Ehdr header_{};
};

}  // namespace

std::vector<std::byte> read_elf_section(const std::filesystem::path& file, std::string_view name,
                                        std::string_view kind, std::size_t limit) {
  const ElfFile elf(file);
  for (std::size_t i = 0; i < elf.sections(); ++i) {
    const Elf64_Shdr section = elf.section(i);
    if (section.sh_type != SHT_PROGBITS || elf.section_name(section) != name) continue;
    return elf.bytes(section.sh_offset, std::min<std::uint64_t>(section.sh_size, limit));
  }
  elf.fail(fmt::format("is a shared library, but not {}: it has no section {}", kind, name));
}

}  // namespace lloyd

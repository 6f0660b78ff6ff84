// Plugin metadata, which is read from the file before the plugin is loaded.
#include <algorithm>
#include <string>

#include <lloyd/registry.hpp>

#include "fuzz.hpp"
#include "loading/elf_section.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lloyd;
  static const fuzz::InputFile input;
  const std::filesystem::path file = input.hold(fuzz::text_of(data, size));
  fuzz::expect_refusal_or([&] {
    const PluginHeader header = read_plugin_header(file);
    const char* const end = std::find(header.name, std::end(header.name), '\0');
    fuzz::require(end != header.name && end != std::end(header.name),
                  "a plugin without a name is accepted");
    fuzz::check_line({header.name, end});
    fuzz::require(header.abi_major == kAbiMajor && header.abi_minor <= kAbiMinor,
                  "a plugin of another version is accepted");
  });
  fuzz::expect_refusal_or([&] {
    constexpr std::size_t kLimit = 100;
    fuzz::require(read_elf_section(file, ".text", "a library", kLimit).size() <= kLimit,
                  "a section is longer than its limit");
  });
  return 0;
}

// lloyd new-plugin: writes a folder with a plugin that builds and passes the conformance suite.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <lloyd/backend_name.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>

#include "commands/commands.hpp"
#include "new_plugin/plugin_template.hpp"
#include "output/output.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;

struct NewPluginArguments {
  std::string name;
  fs::path folder;
};

// Quotes a word for a POSIX shell if necessary.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// The build folder or the install prefix: both have the program in bin/ and are CMake packages.
fs::path lloyd_folder() {
  return program_file().parent_path().parent_path();
}

void check_name(const Context& context, const std::string& name) {
  if (!is_backend_name(name)) {
    throw InputError(
        fmt::format("'{}' cannot be the name of a backend: at most {} lower-case letters, digits "
                    "and '-' are expected, a letter first (for example '{}')",
                    name, kMaxNameCharacters, to_backend_name(name)));
  }
  if (Registry(Registry::default_folders(context.plugin_folders)).contains(name)) {
    throw InputError(
        fmt::format("the name '{}' is taken: 'lloyd backends' lists the existing backends", name));
  }
}

int make_plugin(const Context& context, const NewPluginArguments& arguments) {
  check_name(context, arguments.name);
  const fs::path folder = arguments.folder.empty() ? fs::path(arguments.name) : arguments.folder;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    throw InputError(
        fmt::format("{} exists; --dir must name a folder that does not exist", folder.string()));
  }
  const std::string lloyd = shell_word(lloyd_folder().string());
  make_folder(folder);
  try {
    for (const TemplateFile& file : plugin_template()) {
      NewFile target(folder / file.name);
      target.write(fill_template(file.text, arguments.name, lloyd));
      target.commit();
    }
  } catch (...) {
    fs::remove_all(folder, error);  // the next attempt needs the folder's name
    throw;
  }
  note("wrote a plugin that builds and passes the conformance suite to {}; next steps:\n",
       folder.string());
  print_text(
      "  cd {}\n"
      "  cmake -G Ninja -B build -DCMAKE_PREFIX_PATH={}\n"
      "  cmake --build build\n"
      "  ctest --test-dir build --output-on-failure\n"
      "  {} backends --plugin-dir build\n",
      shell_word(folder.string()), lloyd, shell_word((lloyd_folder() / "bin" / "lloyd").string()));
  return kDone;
}

}  // namespace

void add_new_plugin_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "new-plugin",
      "Write the source folder of a new backend, which builds and passes the conformance suite");
  auto arguments = std::make_shared<NewPluginArguments>();
  command->add_option("NAME", arguments->name, "The backend's name")->required();
  command->add_option("--dir", arguments->folder, "The folder to create (default: NAME)");
  command->callback([&context, arguments] {
    context.action = [&context, arguments] { return make_plugin(context, *arguments); };
  });
}

}  // namespace lloyd::apps

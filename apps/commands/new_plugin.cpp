// lloyd new-plugin: writes a folder with a plugin that builds and passes the conformance suite.
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <fmt/format.h>

#include <lloyd/backend_name.hpp>
#include <lloyd/data/new_file.hpp>
#include <lloyd/error.hpp>
#include <lloyd/internal/shell_word.hpp>

#include "commands/commands.hpp"
#include "new_plugin/plugin_template.hpp"
#include "output/output.hpp"

namespace lloyd::apps {
namespace {

namespace fs = std::filesystem;

struct NewPluginArguments {
  std::string name;
  fs::path folder;
  bool cuda = false;
};

std::span<const TemplateFile> template_of(const NewPluginArguments& arguments) {
  return arguments.cuda ? cuda_plugin_template() : plugin_template();
}

// The build folder or the install prefix: both have the program in bin/ and are CMake packages.
fs::path lloyd_folder() {
  return program_file().parent_path().parent_path();
}

// The root of Lloyd's sources if `folder` would be one of the plugins there; otherwise empty.
fs::path source_tree_of(const fs::path& folder) {
  fs::path target = fs::weakly_canonical(folder);
  if (!target.has_filename()) target = target.parent_path();  // "plugins/x/"
  const fs::path plugins = target.parent_path();
  const fs::path root = plugins.parent_path();
  const bool inside = plugins.filename() == "plugins" &&
                      fs::exists(root / "core" / "include" / "lloyd" / "plugin" / "plugin.hpp");
  return inside ? root : fs::path();
}

void write_text(const fs::path& file, const std::string& text) {
  NewFile target(file);
  target.write(text);
  target.commit();
}

// A folder with a build of its own.
void write_plugin(const fs::path& folder, const NewPluginArguments& arguments,
                  const std::string& lloyd) {
  for (const TemplateFile& file : template_of(arguments)) {
    write_text(folder / file.name, fill_template(file.text, arguments.name, lloyd));
  }
}

// A folder that is part of Lloyd's build, which gives it Lloyd's version.
void write_plugin_of_tree(const fs::path& folder, const NewPluginArguments& arguments) {
  for (const TemplateFile& file : template_of(arguments)) {
    if (file.name.starts_with("backend."))
      write_text(folder / file.name, fill_template(file.text, arguments.name, ""));
  }
  write_text(
      folder / "CMakeLists.txt",
      arguments.cuda
          ? fmt::format("if(LLOYD_HAS_CUDA)\n  lloyd_add_plugin({} SOURCES backend.cu)\nendif()\n",
                        arguments.name)
          : fmt::format("lloyd_add_plugin({} SOURCES backend.cpp)\n", arguments.name));
}

std::string steps_out_of_tree(const fs::path& folder, const std::string& lloyd) {
  return fmt::format(
      "  cd {}\n"
      "  cmake -G Ninja -B build -DCMAKE_PREFIX_PATH={}\n"
      "  cmake --build build\n"
      "  ctest --test-dir build --output-on-failure\n"
      "  {} backends --plugin-dir build\n",
      shell_word(folder.string()), lloyd, shell_word((lloyd_folder() / "bin" / "lloyd").string()));
}

std::string steps_in_tree(const fs::path& root, const std::string& name) {
  return fmt::format(
      "  cd {}\n"
      "  cmake --preset release\n"
      "  cmake --build build/release --target lloyd lloyd_{}\n"
      "  build/release/bin/lloyd verify build/release/bin/lloyd_{}.so\n",
      shell_word(root.string()), name, name);
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
  const fs::path tree = source_tree_of(folder);
  const std::string lloyd = shell_word(lloyd_folder().string());
  make_folder(folder);
  try {
    if (tree.empty()) {
      write_plugin(folder, arguments, lloyd);
    } else {
      write_plugin_of_tree(folder, arguments);
    }
  } catch (...) {
    fs::remove_all(folder, error);  // the next attempt needs the folder's name
    throw;
  }
  note("wrote {}: a plugin that builds{} and passes the conformance suite; next steps:\n",
       folder.string(), arguments.cuda ? " with nvcc" : "");
  print_text("{}",
             tree.empty() ? steps_out_of_tree(folder, lloyd) : steps_in_tree(tree, arguments.name));
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
  command->add_flag("--cuda", arguments->cuda,
                    "Write a backend in CUDA; building it needs nvcc 12 or newer");
  command->callback([&context, arguments] {
    context.action = [&context, arguments] { return make_plugin(context, *arguments); };
  });
}

}  // namespace lloyd::apps

// lloyd serve-rank: one rank of a trial of `lloyd run`. Internal: started by a launcher only.
#include <filesystem>
#include <memory>

#include "commands/commands.hpp"
#include "experiment/ranks/rank_service.hpp"

namespace lloyd::apps {

void add_rank_command(CLI::App& app, Context& context) {
  CLI::App* const sub = app.add_subcommand("serve-rank", "Run one rank of a trial");
  sub->group("");  // not listed
  const auto folder = std::make_shared<std::filesystem::path>();
  sub->add_option("FOLDER", *folder)->required();
  sub->callback([&context, folder] {
    context.action = [&context, folder] {
      return experiment::serve_rank(*folder, context.plugin_limit());
    };
  });
}

}  // namespace lloyd::apps

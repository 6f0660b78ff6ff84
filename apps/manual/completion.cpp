#include "manual/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lloyd/error.hpp>
#include <lloyd/internal/suggestion.hpp>

namespace lloyd::apps {
namespace {

// Prints the names of the plugins that are found, one per line, in every shell. Loads none of them.
constexpr std::string_view kBackendNames =
    R"(lloyd --version 2>/dev/null | sed -n 's/^plugins *//p' | tr -s ', ' '\n')";

bool names_backend(const ArgumentDescription& option) {
  return option.names.back() == "--backend";
}

// In all scripts a command is written as a chain of words, "/data/blobs"; the program is the empty
// chain.
std::string chain(const CommandDescription& command) {
  std::string text;
  for (const std::string& word : command.path) text += "/" + word;
  return text;
}

// Quotes a text for bash and zsh.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result + "'";
}

// Quotes a text for fish, whose only escapes within quotes are \\ and \'.
std::string quoted_for_fish(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

// A name and its explanation as _describe of zsh expects them, quoted.
std::string described(std::string_view name, std::string_view text) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return shell_quoted(fmt::format("{}:{}", escaped, text));
}

// Every command accepts the program's options too.
std::vector<const ArgumentDescription*> options_of(const CommandDescription& command,
                                                   const CommandDescription& program) {
  std::vector<const ArgumentDescription*> options;
  for (const ArgumentDescription& option : command.options) options.push_back(&option);
  for (const ArgumentDescription& option : program.options) {
    const bool is_own = &command == &program || option.names.back() == "--help";
    if (!is_own) options.push_back(&option);
  }
  return options;
}

std::string names_of_commands(const CommandDescription& command) {
  std::string names;
  for (const CommandDescription& inner : command.commands) {
    names += (names.empty() ? "" : " ") + inner.path.back();
  }
  return names;
}

// "/run|/data|/data/blobs"
std::string chains(const CommandDescription& program) {
  std::string text;
  for (const CommandDescription* command : all_commands(program)) {
    if (!command->path.empty()) text += (text.empty() ? "" : "|") + chain(*command);
  }
  return text;
}

// A `case` pattern for an option after its command: '/fit -k'|'/fit --clusters'.
std::string option_pattern(const CommandDescription& command, const ArgumentDescription& option) {
  std::string pattern;
  for (const std::string& name : option.names) {
    pattern += (pattern.empty() ? "" : "|") + shell_quoted(chain(command) + " " + name);
  }
  return pattern;
}

std::string bash_script(const CommandDescription& program) {
  std::string words;
  std::string values;
  for (const CommandDescription* command : all_commands(program)) {
    std::string names;
    for (const ArgumentDescription* option : options_of(*command, program)) {
      for (const std::string& name : option->names) names += (names.empty() ? "" : " ") + name;
      if (!option->takes_value) continue;
      const std::string action =
          !option->choices.empty()
              ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                            shell_quoted(fmt::format("{}", fmt::join(option->choices, " "))))
          : names_backend(*option)
              ? fmt::format("COMPREPLY=($(compgen -W \"$({})\" -- \"$current\"))", kBackendNames)
          : option->takes_folder ? std::string("COMPREPLY=($(compgen -d -- \"$current\"))")
                                 : std::string(":");
      values += fmt::format("    {}) {}; return ;;\n", option_pattern(*command, *option), action);
    }
    words += fmt::format("    {}) commands={}; options={} ;;\n", shell_quoted(chain(*command)),
                         shell_quoted(names_of_commands(*command)), shell_quoted(names));
  }
  return fmt::format(R"(# bash completion for lloyd, written by 'lloyd completion bash'.
_lloyd() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local chain= commands= options= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$chain/${{COMP_WORDS[i]}}" in
    {}) chain="$chain/${{COMP_WORDS[i]}}" ;;
    esac
  done
  # Values; without a reply, bash completes file names.
  case "$chain $previous" in
{}  esac
  case "$chain" in
{}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}}
complete -o default -F _lloyd lloyd
)",
                     chains(program), values, words);
}

std::string zsh_script(const CommandDescription& program) {
  std::string words;
  std::string values;
  for (const CommandDescription* command : all_commands(program)) {
    std::string commands;
    for (const CommandDescription& inner : command->commands) {
      commands += " " + described(inner.path.back(), inner.text);
    }
    std::string options;
    for (const ArgumentDescription* option : options_of(*command, program)) {
      for (const std::string& name : option->names) options += " " + described(name, option->text);
      if (!option->takes_value) continue;
      const std::string action =
          !option->choices.empty() ? fmt::format("compadd -- {}", fmt::join(option->choices, " "))
          : names_backend(*option) ? fmt::format("compadd -- $({})", kBackendNames)
          : option->takes_folder   ? std::string("_files -/")
                                   : std::string("_files");
      values += fmt::format("    ({}) {}; return ;;\n", option_pattern(*command, *option), action);
    }
    words += fmt::format("    ({})\n      commands=({})\n      options=({}) ;;\n",
                         shell_quoted(chain(*command)), commands, options);
  }
  return fmt::format(R"(#compdef lloyd
# zsh completion for lloyd, written by 'lloyd completion zsh'.
_lloyd() {{
  local chain= i
  local -a commands options
  for ((i = 2; i < CURRENT; ++i)); do
    case "$chain/$words[i]" in
    ({}) chain="$chain/$words[i]" ;;
    esac
  done
  case "$chain $words[CURRENT-1]" in
{}  esac
  case "$chain" in
{}  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
_lloyd "$@"
)",
                     chains(program), values, words);
}

std::string fish_script(const CommandDescription& program) {
  std::string lines;
  for (const CommandDescription* command : all_commands(program)) {
    const std::string at =
        fmt::format("complete -c lloyd -n \"__lloyd_is_at '{}'\"", chain(*command));
    for (const CommandDescription& inner : command->commands) {
      lines +=
          fmt::format("{} -f -a {} -d {}\n", at, inner.path.back(), quoted_for_fish(inner.text));
    }
    for (const ArgumentDescription* option : options_of(*command, program)) {
      lines += at;
      for (const std::string& name : option->names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option->choices.empty()) {
        lines += fmt::format(" -x -a {}",
                             quoted_for_fish(fmt::format("{}", fmt::join(option->choices, " "))));
      } else if (names_backend(*option)) {
        lines += fmt::format(" -x -a {}", quoted_for_fish(fmt::format("({})", kBackendNames)));
      } else if (option->takes_folder) {
        lines += " -x -a '(__fish_complete_directories)'";
      } else if (option->takes_value) {
        lines += " -r";
      }
      lines += fmt::format(" -d {}\n", quoted_for_fish(option->text));
    }
  }
  std::string known;
  for (const CommandDescription* command : all_commands(program)) {
    if (!command->path.empty()) known += " " + chain(*command);
  }
  return fmt::format(R"(# fish completion for lloyd, written by 'lloyd completion fish'.
function __lloyd_is_at --description 'Whether the words typed so far name this command'
  set -l chain ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$chain/$word"{}
      set chain "$chain/$word"
    end
  end
  test "$chain" = "$argv[1]"
end
{})",
                     known, lines);
}

}  // namespace

std::string completion_script(std::string_view shell, const CommandDescription& program) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw InputError(fmt::format("there is no completion for the shell '{}'{}", shell,
                               suggestion(shell, {"bash", "zsh", "fish"})));
}

}  // namespace lloyd::apps

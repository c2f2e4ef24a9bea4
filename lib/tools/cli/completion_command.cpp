#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"

namespace shardlings {

namespace {

/// A line of the script for each command, "/course/test": what may follow it.
struct Words {
    std::string paths;  // alternatives of a case pattern
    std::string cases;
};

void collect(const CLI::App& command, const std::string& path, Words& words)
{
    std::vector<std::string> subcommands;
    std::vector<std::string> flags;
    for (const CLI::App* one : command.get_subcommands({})) subcommands.push_back(one->get_name());
    for (const CLI::Option* one : command.get_options({})) {
        if (one->get_group().empty()) continue;  // not for users: not in --help either
        for (const std::string& name : one->get_lnames()) flags.push_back("--" + name);
    }
    if (!path.empty()) words.paths += (words.paths.empty() ? "" : "|") + path;
    words.cases += fmt::format("        '{}') commands='{}' flags='{}' ;;\n", path,
                               fmt::join(subcommands, " "), fmt::join(flags, " "));
    for (const CLI::App* one : command.get_subcommands({}))
        collect(*one, path + "/" + one->get_name(), words);
}

/// A flag's name where one has been begun, a subcommand where one may stand, and else a file.
std::string bash_script(const CLI::App& app)
{
    Words words;
    collect(app, "", words);
    return fmt::format(R"(_shardlings() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} path='' commands='' flags='' word
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
        case $path/$word in
        {}) path=$path/$word ;;
        esac
    done
    case $path in
{}    esac
    [[ $current == -* ]] && commands=$flags
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
}}
complete -o default -F _shardlings shardlings
)",
                       words.paths, words.cases);
}

void print_completion(const CLI::App& app, const std::string& shell)
{
    check(shell == "bash" || shell == "zsh", "completion {}: expected bash or zsh", shell);
    if (shell == "zsh") fmt::print("autoload -U +X compinit bashcompinit && compinit && bashcompinit\n");
    fmt::print("{}", bash_script(app));
}

}  // namespace

void add_completion_command(CLI::App& app)
{
    CLI::App* command = app.add_subcommand("completion",
                                           "print what completes this program's commands and flags: "
                                           "source <(build/shardlings completion bash), or zsh");
    auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash or zsh")->required();
    command->callback([&app, shell] { print_completion(app, *shell); });
}

}  // namespace shardlings

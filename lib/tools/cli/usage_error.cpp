#include "lib/tools/cli/usage_error.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "lib/machine/comm/environment.hpp"
#include "lib/tools/cli/commands.hpp"

namespace shardlings {

namespace {

/// Letters to insert, delete or replace between two words (Levenshtein 1966).
std::size_t edits(const std::string& a, const std::string& b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

/// The name that takes the fewest edits, if they are few for its length; else empty.
std::string nearest(const std::string& word, const std::vector<std::string>& names)
{
    std::string best;
    std::size_t fewest = word.size() / 3 + 2;
    for (const std::string& name : names)
        if (const std::size_t distance = edits(word, name); distance < fewest) {
            best = name;
            fewest = distance;
        }
    return best;
}

std::vector<std::string> names_in(const CLI::App& command)
{
    std::vector<std::string> names;
    for (const CLI::App* one : command.get_subcommands({})) names.push_back(one->get_name());
    for (const CLI::Option* one : command.get_options({}))
        for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
    return names;
}

/// The subcommand that the command line got to.
const CLI::App& last_command(const CLI::App& app)
{
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app : last_command(*chosen.back());
}

std::string path_of(const CLI::App& command)
{
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

/// The first word that no command knows: a flag, or what stands for a subcommand. Empty: there is none.
std::string unknown_word(const CLI::App& command)
{
    const bool wants_subcommand = !command.get_subcommands({}).empty();
    for (const std::string& word : command.remaining())
        if (word != "--" && (wants_subcommand || word.starts_with("-")))
            return word.substr(0, word.find('='));
    return {};
}

std::string kind_of(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    if (type.starts_with("INT")) return "a whole number";
    if (type.starts_with("UINT")) return "a whole number of 0 or more";
    return type.starts_with("FLOAT") ? "a number" : "";
}

template <class Value>
bool is_a(const CLI::Option& option)
{
    try {
        option.as<Value>();
        return true;
    } catch (const CLI::ParseError&) {
        return false;
    }
}

/// True when the option's value is one of its type.
bool is_of_its_kind(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    if (type.starts_with("INT")) return is_a<std::int64_t>(option);
    if (type.starts_with("UINT")) return is_a<std::uint64_t>(option);
    return !type.starts_with("FLOAT") || is_a<double>(option);
}

/// The first flag that is there too often, or whose value is no value of its type. Empty: there is none.
std::string wrong_value(const CLI::App& command)
{
    for (const CLI::Option* option : command.get_options({})) {
        const std::string name = option->get_name();
        const std::vector<std::string>& values = option->results();
        const auto most = static_cast<std::size_t>(option->get_items_expected_max());
        if (!option->get_positional() && most > 0 && values.size() > most)
            return fmt::format("{} is there {} times: expected once", name, values.size());
        if (values.size() == 1 && !is_of_its_kind(*option))
            return fmt::format("{} is '{}': expected {}", name, values.front(), kind_of(*option));
    }
    return {};
}

std::string what_is_wrong(const CLI::App& command, const CLI::ParseError& error)
{
    const std::string unknown = unknown_word(command);
    if (!unknown.empty()) {
        const std::string meant = nearest(unknown, names_in(command));
        return fmt::format("'{}' is not known here{}", unknown,
                           meant.empty() ? "" : fmt::format(": did you mean {}?", meant));
    }
    if (const std::string wrong = wrong_value(command); !wrong.empty()) return wrong;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !command.remaining().empty())
        return fmt::format("'{}' belongs to no flag: a value with a space in it needs quotes",
                           command.remaining().front());
    if (command.get_parent() == nullptr && command.get_subcommands().empty())
        return "expected a subcommand, as in shardlings train";
    return error.what();
}

/// A launcher ends all when the first process ends with an error: that must be the one that speaks.
void let_the_first_speak()
{
    std::this_thread::sleep_for(std::chrono::seconds(5));
}

}  // namespace

std::string refuse_negative(const std::string& number)
{
    return number.starts_with("-") ? fmt::format("is {}: expected 0 or more", number) : "";
}

int answer(const CLI::App& app, const CLI::ParseError& error)
{
    const bool is_usage_error =
        error.get_exit_code() != 0 && dynamic_cast<const CLI::RuntimeError*>(&error) == nullptr;
    if (!is_usage_error) return app.exit(error);
    const CLI::App& command = last_command(app);
    if (speaks_for_launch())
        fmt::print(stderr, "{}: {}\n({} --help lists what there is)\n", path_of(command),
                   what_is_wrong(command, error), path_of(command));
    else
        let_the_first_speak();
    return usage_exit_code;
}

int answer(const std::exception& error)
{
    // What one process finds wrong with the command line all do, but a file may be missing on one host alone.
    if (!speaks_for_launch()) let_the_first_speak();
    fmt::print(stderr, "shardlings: {}\n", error.what());
    return 1;
}

}  // namespace shardlings

#include "lib/tools/course/compiler_output.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace {

constexpr std::size_t columns = 180;
constexpr std::size_t context_lines = 2;  // the source line and the mark under it

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

/// The message when the line reports an error, else empty. What the linker says of where else something is
/// defined, in a file of the course's own, is left out.
std::string error_in(const std::string& line)
{
    for (const std::string_view problem : {"undefined reference to", "multiple definition of"})
        if (const auto at = line.find(problem); at != line.npos)
            return "link error: " +
                   shortened(std::string_view(line).substr(at, line.find("; ", at) - at), columns);
    if (contains(line, "ld returned ")) return {};
    if (contains(line, ": error: ") || contains(line, ": fatal error: ") ||
        contains(line, "internal compiler error") || contains(line, "*** No rule to make target"))
        return shortened(trimmed(line), columns);
    return {};
}

/// "   31 |     const auto y = z;" or "      |                    ^"
bool is_excerpt(const std::string& line)
{
    const auto bar = line.find('|');
    return bar != line.npos && line.find_first_not_of(" 0123456789") == bar;
}

}  // namespace

std::vector<BuildError> build_errors(std::string_view output)
{
    std::vector<BuildError> errors;
    std::string asked_from;
    bool in_error = false;  // the excerpts that follow belong to the last error
    for (const std::string& line : lines_of(output)) {
        const std::string message = error_in(line);
        if (!message.empty()) {
            in_error = std::none_of(errors.begin(), errors.end(),
                                    [&](const BuildError& error) { return error.message == message; });
            if (!in_error) continue;
            errors.push_back({message, {}});
            if (!asked_from.empty()) errors.back().context.push_back(asked_from);
            asked_from.clear();
        } else if (line.ends_with("required from here")) {
            asked_from = "  " + shortened(trimmed(line), columns);
        } else if (is_excerpt(line)) {
            const auto excerpts =
                static_cast<std::size_t>(in_error ? std::count_if(errors.back().context.begin(),
                                                                  errors.back().context.end(), is_excerpt)
                                                  : 0);
            if (in_error && excerpts < context_lines)
                errors.back().context.push_back(shortened(line, columns));
        } else {
            in_error = false;
        }
    }
    return errors;
}

void filter_compiler_output(std::istream& in, std::ostream& out, std::size_t shown)
{
    std::string kept;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("  compile "))
            out << line << std::endl;
        else
            kept += line + "\n";
    }
    const std::vector<BuildError> errors = build_errors(kept);
    for (std::size_t i = 0; i < std::min(shown, errors.size()); ++i) {
        out << errors[i].message << "\n";
        for (const std::string& line : errors[i].context) out << line << "\n";
    }
    if (errors.size() > shown) out << "and " << errors.size() - shown << " more errors\n";
    out.flush();
}

}  // namespace shardlings

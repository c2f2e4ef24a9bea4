#include "lib/tools/course/report.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <string_view>

#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace {

std::string text_of(const pugi::xml_node& node)
{
    return trimmed(node.text().get());
}

/// "x == y, which is 1 == 2", or what was thrown instead.
std::string assertion(const pugi::xml_node& expression)
{
    const std::string original = text_of(expression.child("Original"));
    for (const char* thrown : {"Exception", "FatalErrorCondition"})
        if (const auto node = expression.child(thrown)) return fmt::format("{}: {}", original, text_of(node));
    const std::string expanded = text_of(expression.child("Expanded"));
    return original == expanded ? original : fmt::format("{}, which is {}", original, expanded);
}

/// What Catch2 calls a fatal error: a signal, of which SIGTERM is the one that a run at its time limit gets.
std::string crash(const std::string& signal)
{
    return signal.starts_with("SIGTERM") ? "was running when the tests were stopped"
                                         : "the tests themselves crashed: " + signal;
}

/// Adds the messages of the failures under a test case or a section.
void collect(const pugi::xml_node& parent, std::vector<std::string>& messages)
{
    std::vector<std::string> info;
    const auto add = [&](const std::string& message) {
        messages.push_back(message);
        info.clear();
    };
    for (const pugi::xml_node& node : parent.children()) {
        const std::string_view kind = node.name();
        if (kind == "Info")
            info.push_back(text_of(node));
        else if (kind == "Section")
            collect(node, messages);
        else if (kind == "Failure" || kind == "Exception")
            add(text_of(node));
        else if (kind == "FatalErrorCondition")
            add(crash(text_of(node)));
        else if (kind == "Expression" && !node.attribute("success").as_bool())
            add(info.empty() ? assertion(node) : joined(info, "\n"));
    }
}

}  // namespace

Report read_report(const std::filesystem::path& file)
{
    pugi::xml_document document;
    // On an error pugixml keeps what it has read until then, which is what a run that was stopped got to.
    const pugi::xml_parse_result parsed = document.load_file(file.c_str());
    Report report;
    for (const auto& found : document.select_nodes("//TestCase")) {
        const pugi::xml_node node = found.node();
        CaseReport result{node.attribute("name").as_string(), false, {}};
        collect(node, result.messages);
        const pugi::xml_node overall = node.child("OverallResult");
        result.passed = overall.attribute("success").as_bool() && result.messages.empty();
        if (!overall && result.messages.empty()) result.messages.push_back("did not come to an end");
        if (!result.passed && result.messages.empty()) result.messages.push_back("failed without a message");
        report.cases.push_back(std::move(result));
    }
    report.complete = parsed && document.document_element();
    return report;
}

}  // namespace shardlings

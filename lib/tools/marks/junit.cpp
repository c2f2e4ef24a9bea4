#include "lib/tools/marks/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "lib/tools/course/files.hpp"
#include "lib/tools/marks/text.hpp"

namespace shardlings {

namespace {

struct Counts {
    int tests = 0;
    int failures = 0;
    int errors = 0;
    int skipped = 0;
};

void set(pugi::xml_node node, const char* name, const std::string& value)
{
    node.append_attribute(name).set_value(value.c_str());
}

void set_counts(pugi::xml_node node, const Counts& counts)
{
    node.append_attribute("tests").set_value(counts.tests);
    node.append_attribute("failures").set_value(counts.failures);
    node.append_attribute("errors").set_value(counts.errors);
    node.append_attribute("skipped").set_value(counts.skipped);
}

/// The element inside a test case that says what went wrong; its message is the first line.
void add_outcome(pugi::xml_node test, const char* kind, const std::string& type, const std::string& text)
{
    pugi::xml_node outcome = test.append_child(kind);
    set(outcome, "message", text.substr(0, text.find('\n')));
    if (std::string(kind) != "skipped") set(outcome, "type", type);
    outcome.text().set(text.c_str());
}

pugi::xml_node add_test(pugi::xml_node suite, const GradedPart& graded, const std::string& name,
                        Counts& counts)
{
    pugi::xml_node test = suite.append_child("testcase");
    set(test, "classname", "lesson" + graded.part.id.substr(0, 2) + "." + graded.part.stem());
    set(test, "name", plain_line(name));
    ++counts.tests;
    return test;
}

void add_part(pugi::xml_node suite, const GradedPart& graded, Counts& counts)
{
    const std::string whole = graded.part.id + " " + graded.part.title;
    if (!graded.submitted) {
        add_outcome(add_test(suite, graded, whole, counts), "skipped", "", diagnosis(graded));
        ++counts.skipped;
        return;
    }
    for (const CaseReport& one : graded.result.cases) {
        pugi::xml_node test = add_test(suite, graded, one.name, counts);
        if (one.passed) continue;
        add_outcome(test, "failure", graded.status(), plain_lines(lines_of(joined(one.messages, "\n"))));
        ++counts.failures;
    }
    const bool no_verdict = !graded.judged || !graded.result.note.empty();
    if (!no_verdict) return;
    const std::string text = graded.judged ? plain_lines(lines_of(graded.result.note)) : diagnosis(graded);
    add_outcome(add_test(suite, graded, whole, counts), "error", graded.status(), text);
    ++counts.errors;
}

void add_property(pugi::xml_node properties, const char* name, const std::string& value)
{
    pugi::xml_node property = properties.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
}

}  // namespace

std::string junit_xml(const Marked& marked)
{
    const Grade& grade = marked.grade;
    pugi::xml_document document;
    pugi::xml_node declaration = document.append_child(pugi::node_declaration);
    set(declaration, "version", "1.0");
    set(declaration, "encoding", "UTF-8");
    pugi::xml_node suites = document.append_child("testsuites");
    set(suites, "name", plain_line(marked.name));
    Counts all;
    for (std::size_t i = 0; i < grade.parts.size();) {
        const std::string lesson = grade.parts[i].part.id.substr(0, 2);
        pugi::xml_node suite = suites.append_child("testsuite");
        set(suite, "name", "lesson " + lesson);
        pugi::xml_node properties = suite.append_child("properties");
        add_property(properties, "seed", grade.seed);
        add_property(properties, "tamper_proof", grade.tamper_proof ? "true" : "false");
        add_property(properties, "score", fmt::format("{} of {}", grade.score(), grade.max()));
        Counts counts;
        for (; i < grade.parts.size() && grade.parts[i].part.id.substr(0, 2) == lesson; ++i)
            add_part(suite, grade.parts[i], counts);
        const std::string say = caution(grade);
        if (!say.empty()) suite.append_child("system-out").text().set(say.c_str());
        set_counts(suite, counts);
        all = {all.tests + counts.tests, all.failures + counts.failures, all.errors + counts.errors,
               all.skipped + counts.skipped};
    }
    set_counts(suites, all);
    std::ostringstream text;
    document.save(text, " ");
    return text.str();
}

}  // namespace shardlings

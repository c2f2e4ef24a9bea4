// Grades as reports: points, formats, what is kept of a class.
#include "tests/lib/marks.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/points.hpp"
#include "lib/tools/marks/csv.hpp"
#include "lib/tools/marks/gradescope.hpp"
#include "lib/tools/marks/html.hpp"
#include "lib/tools/marks/junit.hpp"
#include "lib/tools/marks/kept_grade.hpp"
#include "lib/tools/marks/text.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>

using namespace shardlings;
using namespace small;
using nlohmann::json;

namespace {

std::string points_error(const std::string& text)
{
    const ::TemporaryFolder folder;
    write_file(folder / "points.json", text);
    Manifest manifest = small_manifest();
    return error_of([&] { apply_points(folder / "points.json", manifest); });
}

/// The text of an element and all in it.
std::string text_in(const pugi::xml_node& node)
{
    std::string text = node.value();
    for (const pugi::xml_node& child : node.children()) text += text_in(child);
    return text;
}

/// Whether any byte could control a terminal, or is not UTF-8.
bool is_plain(const std::string& text)
{
    for (const unsigned char c : text)
        if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7f) return false;
    for (const std::string bad : {"\xc2\x9b", "\xe2\x80\xae", "\xef\xbf\xbf"})
        if (contains(text, bad)) return false;
    try {
        (void)json(text).dump();
        return true;
    } catch (const json::exception&) {
        return false;
    }
}

}  // namespace

TEST_CASE("points.json: a lesson keeps its proportions, a part goes before its lesson")
{
    const ::TemporaryFolder folder;
    write_file(folder / "points.json", R"({"credit": "all or nothing", "visibility": "after_due_date",
        "late": {"due": "2026-12-01T23:59:00+01:00", "percent_per_day": 10, "at_most_percent": 25},
        "points": {"03": {"points": 100}, "03.2": {"points": 7, "credit": "per test", "visibility": "hidden"}}})");
    Manifest manifest = small_manifest();
    manifest.lessons[0].parts[0].points = 30.0;
    const LatePolicy late = apply_points(folder / "points.json", manifest);
    const Part& first = manifest.lessons[0].parts[0];
    const Part& second = manifest.lessons[0].parts[1];
    const Part& third = manifest.lessons[1].parts[0];
    CHECK(first.points == 75.0);
    CHECK(first.all_or_nothing);
    CHECK(first.visibility == "after_due_date");
    CHECK(second.points == 7.0);
    CHECK_FALSE(second.all_or_nothing);
    CHECK(second.visibility == "hidden");
    CHECK(third.points == 10.0);
    CHECK(late.due == parse_time("2026-12-01T22:59:00Z"));

    GradedPart half{first, true, {Status::failing, {{"a", true, {}}, {"b", false, {"x"}}}, "", {}}};
    CHECK(half.earned() == 0.0);
    half.part.all_or_nothing = false;
    CHECK(half.earned() == 37.5);
}

TEST_CASE("points.json: mistakes are named with their place")
{
    CHECK(contains(points_error(R"({"points": {"03.1": {"points": -3}}})"),
                   "points 03.1 points: expected a number from 0 to 1000000, not -3"));
    CHECK(contains(points_error(R"({"points": {"03.9": {}}})"), "there is no lesson or part 03.9"));
    CHECK(
        contains(points_error(R"({"points": {"03.1": {"point": 3}}})"), "03.1 point: there is no such key"));
    CHECK(
        contains(points_error(R"({"points": {"03.1": {}, "03.1": {}}})"), "the key \"03.1\" is there twice"));
    CHECK(contains(points_error(R"({"credit": "half"})"), "credit: expected one of \"per test\""));
    CHECK(contains(points_error(R"({"late": {"due": "tomorrow"}})"), "'tomorrow' is no time"));
    CHECK(contains(points_error(R"({"late": {"percent_per_day": 101}})"), "from 0 to 100, not 101"));
    CHECK(contains(points_error("[]"), "expected {…} with any of the keys about, credit"));
    CHECK(
        contains(points_error(R"({"points": {"03": 12}})"), "points 03: expected {…} with any of the keys"));
    CHECK(contains(points_error(R"({"points": {"03.1": {"points": "12"}}})"), "to 1000000, not \"12\""));
    CHECK(contains(points_error(R"({"points": {"3": {}}})"), "part 3; write a lesson as \"03\""));
    CHECK(contains(points_error(R"({"points": [3]})"), "points: expected an object of lessons and parts"));
    CHECK(contains(points_error(R"({"Credit": "per test"})"), "Credit: there is no such key"));
    CHECK(contains(points_error(R"({"visibility": "Visible"})"), "expected one of \"visible\", \"hidden\""));
    CHECK(contains(points_error(R"({"late": {"due": "2026-12-01T23:59"}})"), "is no time"));
    CHECK(contains(points_error(R"({"points": {"03": {"points": 1e999}}})"), "1e999"));
}

TEST_CASE("points.json: what is no JSON is told with its line and column")
{
    for (const auto& [text, says] : std::map<std::string, std::string>{
             {"", ":1:1: it is empty"},
             {"{", ":1:2: it ends too early"},
             {"{\n \"credit\": \"per test\",\n}", ":3:1: there is a comma behind the last entry"},
             {"{\n // late\n \"late\": {}}", ":2:2: JSON has no comments"},
             {"{\"late\": {} /* none */}", ":1:13: JSON has no comments"},
             {"{\"late\": {}, # none\n}", ":1:14: JSON has no comments"},
             {"{'late': {}}", ":1:2: texts stand in double quotes"},
             {"{late: {}}", ":1:2: keys and texts stand in double quotes"},
             {"{\"credit\": half}", ":1:12: keys and texts stand in double quotes"},
             {"{\u201clate\u201d: {}}", ":1:2: this is no plain character: texts stand in straight"},
             {"{\"late\": {}\n \"points\": {}}", ":2:2: is a comma missing before this?"},
             {"{\"late\": {} \"points\": {}}", ":1:13: is a comma missing before this?"},
             {"{\"points\": {\"03\": {\"points\": 012}}}", "a number has no zeros before it"},
             {"{\"about\": \"\xe4\"}", ":1:1: a character is not UTF-8"},
             {"{\"about\": \"a\n\"}", ":1:13: a text ends on its line"},
             {"{\"points\": {03.1: {}}}", ":1:13: is this a number? Keys stand in double quotes"}}) {
        INFO(text << " → " << points_error(text));
        CHECK(contains(points_error(text), says));
    }
}

TEST_CASE("late days: each day begun, up to the cap, after the grace")
{
    LatePolicy policy;
    policy.percent_per_day = 10.0;
    policy.at_most_percent = 25.0;
    policy.grace_minutes = 15.0;
    const std::int64_t due = parse_time("2026-12-01T23:59:00+01:00");
    CHECK(lateness(policy, due - 1, due).days == 0);
    CHECK(lateness(policy, due + 15 * 60, due).percent_off == 0.0);
    CHECK(lateness(policy, due + 15 * 60 + 1, due).days == 1);
    CHECK(lateness(policy, due + 86400, due).percent_off == 10.0);
    CHECK(lateness(policy, due + 86401, due).percent_off == 20.0);
    CHECK(lateness(policy, due + 9 * 86400, due).percent_off == 25.0);
    CHECK(parse_time("1970-01-02T00:00:00Z") == 86400);
    CHECK(parse_time("2018-07-01T14:22:32.365935-07:00") == parse_time("2018-07-01 21:22:32Z"));
    for (const char* wrong : {"2026-12-01", "2026-13-01T00:00Z", "2026-12-01T24:00Z", "2026-12-01T10:00",
                              "2026-12-01T10:00+1", "2026-12-01T10:00Zulu"})
        CHECK(contains(error_of([&] { parse_time(wrong); }), "is no time"));
}

TEST_CASE("Gradescope: all fields, the types that it wants, partial scores")
{
    Marked marked = mixed();
    marked.grade.days_late = 1;
    marked.grade.percent_off = 20.0;
    const json all = json::parse(gradescope_json(marked));
    CHECK(all.at("score") == 12.0);  // (10 + 5 + 0) less 20 %
    CHECK(all.at("execution_time") == 12);
    CHECK(all.at("execution_time").is_number_integer());
    CHECK(contains(all.at("output"), "1 day late: 20 % off 15 points"));
    CHECK(contains(all.at("output"), "Not tamper-proof"));
    const std::set<std::string> formats{"text", "html", "simple_format", "md", "ansi"};
    for (const char* key : {"output_format", "test_output_format", "test_name_format"})
        CHECK(formats.count(all.at(key)) == 1);
    const std::set<std::string> visibilities{"hidden", "after_due_date", "after_published", "visible"};
    CHECK(visibilities.count(all.at("visibility")) == 1);
    CHECK(visibilities.count(all.at("stdout_visibility")) == 1);
    CHECK(all.at("extra_data").is_object());
    REQUIRE(all.at("tests").size() == 3);
    for (const json& test : all.at("tests")) {
        CHECK(test.at("score").is_number());
        CHECK(test.at("max_score") == 10.0);
        CHECK((test.at("status") == "passed" || test.at("status") == "failed"));
        CHECK(test.at("name").is_string());
        CHECK(test.at("number").is_string());
        CHECK(test.at("output").is_string());
        CHECK(is_plain(test.at("output")));
        CHECK(formats.count(test.at("output_format")) == 1);
        CHECK(formats.count(test.at("name_format")) == 1);
        CHECK(visibilities.count(test.at("visibility")) == 1);
        CHECK(test.at("tags").is_array());
        CHECK(test.at("extra_data").is_object());
    }
    CHECK(all.at("tests").at(0).at("status") == "passed");
    CHECK(all.at("tests").at(1).at("score") == 5.0);
    CHECK(contains(all.at("tests").at(2).at("output"), "z.cpp:1:1: error"));
    // Only what passes is on the leaderboard, and only what students may see.
    const json& board = all.at("leaderboard");
    REQUIRE(board.size() == 3);
    CHECK(board.at(1) == json({{"name", "03.1 traffic, bytes"}, {"value", 48.0}, {"order", "asc"}}));
    CHECK(board.at(2) == json({{"name", "03.1 virtual time, s"}, {"value", 2e-6}, {"order", "asc"}}));
    marked.grade.parts[0].part.visibility = "hidden";
    CHECK(json::parse(gradescope_json(marked)).at("leaderboard").size() == 1);
}

TEST_CASE("Gradescope: what is written before anything is judged is valid and has no points")
{
    const json all = json::parse(gradescope_json({"a", no_grade(small_manifest(), "1"), "", 0.0}));
    CHECK(all.at("score") == 0.0);
    CHECK(all.at("tests").size() == 3);
    CHECK(all.at("tests").at(0).at("status") == "failed");
    CHECK(contains(all.at("tests").at(0).at("output"), "not graded"));
    CHECK(contains(all.at("output"), "Not all is graded yet"));
}

TEST_CASE("Gradescope: the metadata's times, an extension before the assignment's due date")
{
    const ::TemporaryFolder folder;
    const std::string file = (folder / "m.json").string();
    write_file(file, R"({"created_at": "2026-12-02T10:00:00.5-08:00",
        "assignment": {"due_date": "2026-12-01T23:59:00.0-08:00"}, "users": [{"name": "x"}]})");
    CHECK(read_submission_metadata(file).submitted == parse_time("2026-12-02T18:00:00Z"));
    CHECK(read_submission_metadata(file).due == parse_time("2026-12-02T07:59:00Z"));
    write_file(file, R"({"created_at": "2026-12-02T10:00:00-08:00", "assignment": {"due_date": null},
        "users": [{"assignment": {"due_date": "2026-12-03T23:59:00-08:00"}}]})");
    CHECK(read_submission_metadata(file).due == parse_time("2026-12-04T07:59:00Z"));
    // A group has the latest of its extensions, in whatever order they stand; what was handed in before is no
    // matter.
    write_file(file, R"({"created_at": "2026-12-02T10:00:00-08:00", "assignment": {"due_date": null},
        "users": [{"assignment": {"due_date": "2026-12-05T23:59:00-08:00"}}, {"assignment": {"due_date": null}},
                  {"assignment": {"due_date": "2026-12-03T23:59:00-08:00"}}],
        "previous_submissions": [{"submission_time": "2026-11-01T10:00:00-08:00", "score": 3.0}]})");
    CHECK(read_submission_metadata(file).submitted == parse_time("2026-12-02T18:00:00Z"));
    CHECK(read_submission_metadata(file).due == parse_time("2026-12-06T07:59:00Z"));
    write_file(file, "{}");
    CHECK(contains(error_of([&] { read_submission_metadata(file); }), "is no metadata of a submission"));
}

TEST_CASE("JUnit: its structure, and counts that are what is there")
{
    Marked marked = mixed();
    marked.grade.parts[0].submitted = false;
    const std::string text = junit_xml(marked);
    CHECK(is_plain(text));
    pugi::xml_document document;
    REQUIRE(document.load_string(text.c_str()));
    const pugi::xml_node suites = document.document_element();
    CHECK(std::string(suites.name()) == "testsuites");
    int tests = 0;
    for (const pugi::xml_node& suite : suites.children()) {
        REQUIRE(std::string(suite.name()) == "testsuite");
        int here = 0, failures = 0, errors = 0, skipped = 0;
        std::string before = "properties";
        for (const pugi::xml_node& node : suite.children()) {
            // In this order: properties, test cases, system-out.
            const std::string name = node.name();
            CHECK((name == before || (before == "properties" && name == "testcase") ||
                   (before == "testcase" && name == "system-out")));
            before = name;
            if (name != "testcase") continue;
            ++here;
            CHECK(*node.attribute("name").value() != '\0');
            CHECK(*node.attribute("classname").value() != '\0');
            CHECK(std::distance(node.begin(), node.end()) <= 1);
            failures += node.child("failure") ? 1 : 0;
            errors += node.child("error") ? 1 : 0;
            skipped += node.child("skipped") ? 1 : 0;
        }
        CHECK(suite.attribute("tests").as_int() == here);
        CHECK(suite.attribute("failures").as_int() == failures);
        CHECK(suite.attribute("errors").as_int() == errors);
        CHECK(suite.attribute("skipped").as_int() == skipped);
        tests += here;
    }
    CHECK(tests == 4);
    CHECK(suites.attribute("tests").as_int() == 4);
    CHECK(suites.attribute("failures").as_int() == 1);
    CHECK(suites.attribute("errors").as_int() == 1);
    CHECK(suites.attribute("skipped").as_int() == 1);
    CHECK(contains(text, "Not tamper-proof"));
}

TEST_CASE("CSV: a line for each submission, quoted, without formulas and control characters")
{
    Marked formula = mixed("=HYPERLINK(\"x\",1)");
    formula.error = "two\nlines";
    const std::string table = class_csv({mixed("ann"), formula});
    CHECK(is_plain(table));
    const std::vector<std::string> lines = lines_of(table);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "name,score,max,earned,days_late,tamper_proof,error,03.1,03.2,04.1\r");
    CHECK(lines[1] == "ann,15,30,15,0,no,,10,5,0\r");
    CHECK(lines[2] == "\"'=HYPERLINK(\"\"x\"\",1)\",15,30,15,0,no,two lines,10,5,0\r");
}

TEST_CASE("HTML: well-formed, self-contained, and a student's text is text")
{
    const std::string page = student_html(mixed());
    const std::string overview = class_html(hostile, {mixed(), mixed("b")}, {"students/a.html", ""});
    for (const std::string& text : {page, overview}) {
        pugi::xml_document document;
        REQUIRE(document.load_string(text.c_str()));
        CHECK(is_plain(text));
        CHECK(document.select_nodes("//script").empty());
        CHECK_FALSE(contains(text, "http"));
        CHECK_FALSE(contains(text, "<script"));
        CHECK(contains(text_in(document.document_element()), "<script>alert(1)</script> & \"q\""));
        CHECK(contains(text, "Not tamper-proof"));
        // An element without content would be read as one that is not closed.
        for (const auto& found : document.select_nodes("//*[not(node())]"))
            CHECK(std::string(found.node().name()) == "meta");
    }
    CHECK(contains(page, "1 of 2 tests"));
    CHECK(contains(page, "z.cpp:1:1: error"));
    CHECK(contains(overview, "href=\"students/a.html\""));
    CHECK(contains(overview, "href=\"students/a.html#part-03.2\">1/2"));
    CHECK(contains(overview, "2 of 2: z.cpp:1:1: error"));
    CHECK(contains(page, "15 of 30 points: 1 done, 1 failing, 1 does not compile"));
    CHECK_FALSE(contains(page, "class.html"));
    CHECK(contains(student_html(mixed(), "../class.html"), "href=\"../class.html\""));
    // What is linked to is there, once.
    for (const char* part : {"03.2", "04.1"}) {
        CHECK(contains(page, std::string("href=\"#part-") + part));
        CHECK(contains(page, std::string("id=\"part-") + part + "\""));
    }
    CHECK(contains(class_html("none", {}, {}), "No submissions"));
    Marked safe = mixed("a");
    safe.grade.tamper_proof = true;
    CHECK_FALSE(contains(student_html(safe), "Not tamper-proof"));
    // One that could not be looked at says nothing about the sandbox of the others.
    const Marked none{"b", no_grade(small_manifest(), "5"), "no archive", 0.0};
    CHECK_FALSE(contains(class_html("class", {safe, none}, {"", ""}), "Not tamper-proof"));
    CHECK(contains(class_csv({none}), "b,0,30,0,0,,no archive"));
    // A part whose code was not let near its tests is seen at once; one that failed them is not such a one.
    CHECK_FALSE(contains(overview, "refused"));
    Marked refused = mixed("c");
    refused.grade.parts[0].result = {
        Status::failing, {}, "not run, because of what its object file holds", {}};
    CHECK(contains(class_html("class", {refused}, {""}), ">refused: 03.1<"));
}

TEST_CASE("reports: long texts are cut, file names are safe and differ")
{
    CHECK(plain_line(std::string(10000, 'x')).size() < 510);
    CHECK(contains(plain_lines(std::vector<std::string>(1000, "x"), 60), "940 more lines"));
    CHECK(file_name_for("ann.zip") == "ann.zip");
    CHECK(file_name_for("a b") != file_name_for("a_b"));
    CHECK(file_name_for("a b") != file_name_for("a\tb"));
    for (const char* name : {"..", ".x", "", "a/b", "\xc3\xa4"})
        CHECK(file_name_for(name).find_first_not_of(
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos);
    CHECK(file_name_for("..").front() != '.');
}

TEST_CASE("a grade that is kept: found by its key, worth what the points are now, damaged ones are not used")
{
    const ::TemporaryFolder folder;
    Manifest manifest = small_manifest();
    keep_grade(folder / "a.json", "key", mixed("a"));
    const std::optional<Marked> same = kept_grade(folder / "a.json", "key", manifest);
    REQUIRE(same);
    CHECK(same->name == "a");
    CHECK(same->grade.score() == 15.0);
    CHECK(same->grade.parts[0].result.cost.traffic_bytes == 48.0);
    CHECK(is_plain(student_html(*same)));
    CHECK_FALSE(kept_grade(folder / "a.json", "other", manifest));
    manifest.lessons[0].parts[0].points = 100.0;
    CHECK(kept_grade(folder / "a.json", "key", manifest)->grade.score() == 105.0);
    const std::string whole = read_file(folder / "a.json");
    for (const std::string& damaged : {std::string("{}"), std::string(), whole.substr(0, whole.size() / 2)}) {
        write_file(folder / "a.json", damaged);
        CHECK_FALSE(kept_grade(folder / "a.json", "key", manifest));
    }
    manifest.lessons.pop_back();
    write_file(folder / "a.json", whole);
    CHECK_FALSE(kept_grade(folder / "a.json", "key", manifest));
}

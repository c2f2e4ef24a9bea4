#include "lib/tools/marks/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "lib/tools/course/files.hpp"
#include "lib/tools/marks/page.hpp"
#include "lib/tools/marks/text.hpp"
#include "lib/tools/marks/timeline.hpp"

namespace shardlings {

namespace {

constexpr const char* nothing = "–";

std::string or_dash(const std::string& text)
{
    return text.empty() ? nothing : text;
}

std::string number(double value)
{
    return fmt::format("{:.4g}", value);
}

bool is_done(const GradedPart& graded)
{
    return graded.submitted && graded.judged && graded.result.status == Status::done;
}

const char* class_of(const GradedPart& graded)
{
    if (is_done(graded)) return "done";
    const bool open = !graded.submitted || !graded.judged || graded.result.status == Status::not_implemented;
    return open ? "open" : "wrong";
}

/// States are told apart by a sign, not by the colour alone.
std::string sign_of(const GradedPart& graded)
{
    if (is_done(graded)) return "✓";
    if (!graded.submitted || !graded.judged) return nothing;
    if (graded.result.status == Status::not_implemented) return "○";
    const std::vector<CaseReport>& cases = graded.result.cases;
    return cases.empty() ? "✗" : fmt::format("{}/{}", graded.result.passed(), cases.size());
}

std::string anchor_of(const Part& part)
{
    return "part-" + part.id;
}

/// Whether there is something to be read about it below the table.
bool has_diagnosis(const GradedPart& graded)
{
    return !is_done(graded) && graded.submitted && graded.judged;
}

/// "3 done, 1 failing, 52 missing"
std::string counts_of_states(const Grade& grade)
{
    std::vector<std::pair<std::string, int>> counts;
    for (const GradedPart& graded : grade.parts) {
        const std::string state = graded.status();
        auto found =
            std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == state; });
        if (found == counts.end()) found = counts.insert(counts.end(), {state, 0});
        ++found->second;
    }
    std::vector<std::string> words;
    for (const auto& [state, count] : counts) words.push_back(fmt::format("{} {}", count, state));
    return joined(words, ", ");
}

void add_caution(pugi::xml_node body, const Grade& grade)
{
    const std::string say = caution(grade);
    if (!say.empty()) add(body, "p", say, "caution");
}

void add_parts(pugi::xml_node body, const Grade& grade)
{
    pugi::xml_node rows =
        add_table(body, "The parts",
                  {"part", "title", "state", "tests", "points", "of", "traffic, bytes", "virtual time, s"});
    for (const GradedPart& graded : grade.parts) {
        pugi::xml_node row = rows.append_child("tr");
        const Cost& cost = graded.result.cost;
        const bool counts = is_done(graded);
        add(row, "td", graded.part.id);
        add(row, "td", graded.part.title);
        pugi::xml_node state = add(row, "td", has_diagnosis(graded) ? "" : graded.status(), class_of(graded));
        if (has_diagnosis(graded)) add_link(state, graded.status(), "#" + anchor_of(graded.part));
        add(row, "td", or_dash(tests_passed(graded)));
        add(row, "td", number(graded.earned()), "number");
        add(row, "td", number(graded.part.points), "number");
        add(row, "td",
            counts && cost.traffic_bytes > 0.0 ? fmt::format("{:.0f}", cost.traffic_bytes) : nothing,
            "number");
        add(row, "td", counts && cost.virtual_seconds > 0.0 ? number(cost.virtual_seconds) : nothing,
            "number");
    }
}

void add_diagnoses(pugi::xml_node body, const Grade& grade)
{
    bool first = true;
    for (const GradedPart& graded : grade.parts) {
        if (!has_diagnosis(graded)) continue;
        if (first) add(body, "h2", "What is wrong");
        first = false;
        add(body, "h3", fmt::format("{} {}: {}", graded.part.id, graded.part.title, graded.status()))
            .append_attribute("id")
            .set_value(anchor_of(graded.part).c_str());
        add(body, "pre", or_dash(diagnosis(graded)));
        if (!graded.result.timeline.empty()) add_timeline(body, graded.result.timeline);
    }
}

/// What a teacher should look at: why a submission has no grade, parts whose code was refused.
std::string remarks(const Marked& marked)
{
    std::vector<std::string> parts;
    for (const GradedPart& graded : marked.grade.parts)
        if (graded.submitted && graded.judged && graded.result.status == Status::failing &&
            graded.result.cases.empty())
            parts.push_back(graded.part.id);
    if (parts.empty()) return plain_line(marked.error);
    return plain_line(marked.error) + (marked.error.empty() ? "" : "; ") + "refused: " + joined(parts, ", ");
}

void add_submissions(pugi::xml_node body, const std::vector<Marked>& all,
                     const std::vector<std::string>& pages)
{
    pugi::xml_node rows =
        add_table(body, "The submissions", {"submission", "score", "of", "parts done", "late", "remarks"});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Grade& grade = all[i].grade;
        pugi::xml_node row = rows.append_child("tr");
        const std::string name = or_dash(plain_line(all[i].name));
        if (pages[i].empty())
            add(row, "td", name);
        else
            add_link(add(row, "td"), name, pages[i]);
        int done = 0;
        for (const GradedPart& graded : grade.parts) done += is_done(graded) ? 1 : 0;
        add(row, "td", number(grade.score()), "number");
        add(row, "td", number(grade.max()), "number");
        add(row, "td", fmt::format("{} of {}", done, grade.parts.size()), "number");
        add(row, "td", or_dash(late_text(grade)));
        const std::string remark = remarks(all[i]);
        add(row, "td", or_dash(remark), remark.empty() ? "" : "wrong");
    }
}

/// A line for each submission, a column for each part.
void add_marks(pugi::xml_node body, const std::vector<Marked>& all, const std::vector<std::string>& pages)
{
    std::vector<std::string> headings{"submission"};
    for (const GradedPart& graded : all.front().grade.parts) headings.push_back(graded.part.id);
    pugi::xml_node rows = add_table(body, "What each has of each part", headings);
    rows.parent().parent().attribute("class").set_value("wide marks");
    for (std::size_t i = 0; i < all.size(); ++i) {
        pugi::xml_node row = rows.append_child("tr");
        add(row, "td", or_dash(plain_line(all[i].name, 24)));
        for (const GradedPart& graded : all[i].grade.parts) {
            const bool linked = has_diagnosis(graded) && !pages[i].empty();
            pugi::xml_node cell = add(row, "td", linked ? "" : sign_of(graded), class_of(graded));
            if (linked) add_link(cell, sign_of(graded), pages[i] + "#" + anchor_of(graded.part));
        }
    }
    add(body, "p",
        "✓ done, 3/5 tests pass, ✗ does not compile or is not run, ○ as handed out, – missing or not graded");
}

/// What most of those were told first who have not done the part, and how many.
std::string most_frequent_reason(const std::vector<Marked>& all, std::size_t p)
{
    std::map<std::string, int> reasons;
    for (const Marked& marked : all) {
        const GradedPart& graded = marked.grade.parts.at(p);
        if (!has_diagnosis(graded)) continue;
        const std::vector<CaseReport>& cases = graded.result.cases;
        const auto failed = std::find_if(
            cases.begin(), cases.end(), [](const CaseReport& c) { return !c.passed && !c.messages.empty(); });
        const std::vector<std::string> lines =
            lines_of(failed == cases.end() ? graded.result.note : failed->messages.front());
        if (!lines.empty()) ++reasons[plain_line(trimmed(lines.front()), 120)];
    }
    const auto most = std::max_element(reasons.begin(), reasons.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == reasons.end()) return nothing;
    return fmt::format("{} of {}: {}", most->second,
                       std::accumulate(reasons.begin(), reasons.end(), 0,
                                       [](int sum, const auto& reason) { return sum + reason.second; }),
                       most->first);
}

void add_how_many(pugi::xml_node body, const std::vector<Marked>& all)
{
    pugi::xml_node rows =
        add_table(body, "The exercises", {"part", "title", "done by", "mean points", "of", "most were told"});
    for (std::size_t p = 0; p < all.front().grade.parts.size(); ++p) {
        const Part& part = all.front().grade.parts[p].part;
        int done = 0;
        double sum = 0.0;
        for (const Marked& marked : all) {
            done += is_done(marked.grade.parts.at(p)) ? 1 : 0;
            sum += marked.grade.parts.at(p).earned();
        }
        pugi::xml_node row = rows.append_child("tr");
        add(row, "td", part.id);
        add(row, "td", part.title);
        add(row, "td", fmt::format("{} of {}", done, all.size()), "number");
        add(row, "td", number(sum / static_cast<double>(all.size())), "number");
        add(row, "td", number(part.points), "number");
        add(row, "td", most_frequent_reason(all, p));
    }
}

}  // namespace

std::string student_html(const Marked& marked, const std::string& overview)
{
    const Grade& grade = marked.grade;
    Page page(plain_line(marked.name));
    pugi::xml_node body = page.body();
    if (!overview.empty()) add_link(add(body, "p"), "the class", overview);
    add(body, "p",
        fmt::format("{} of {} points: {}", number(grade.score()), number(grade.max()),
                    counts_of_states(grade)));
    const std::string late = late_text(grade);
    if (!late.empty()) add(body, "p", late);
    if (!marked.error.empty()) add(body, "pre", plain_line(marked.error));
    add_caution(body, grade);
    add_parts(body, grade);
    add_diagnoses(body, grade);
    add(body, "p", "Test seed " + plain_line(grade.seed));
    return page.text();
}

std::string class_html(const std::string& title, const std::vector<Marked>& all,
                       const std::vector<std::string>& pages)
{
    Page page(plain_line(title));
    if (all.empty()) {
        add(page.body(), "p", "No submissions.");
        return page.text();
    }
    for (const Marked& marked : all)
        if (!caution(marked.grade).empty()) {
            add_caution(page.body(), marked.grade);
            break;
        }
    add_submissions(page.body(), all, pages);
    add(page.body(), "h2", "What each has of each part");
    add_marks(page.body(), all, pages);
    add(page.body(), "h2", "The exercises");
    add_how_many(page.body(), all);
    add(page.body(), "p", "Test seed " + plain_line(all.front().grade.seed));
    return page.text();
}

}  // namespace shardlings

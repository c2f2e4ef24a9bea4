#include "lib/tools/marks/html.hpp"

#include <fmt/format.h>

#include "lib/tools/marks/page.hpp"
#include "lib/tools/marks/text.hpp"

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

void add_caution(pugi::xml_node body, const Grade& grade)
{
    const std::string say = caution(grade);
    if (!say.empty()) add(body, "p", say, "caution");
}

void add_parts(pugi::xml_node body, const Grade& grade)
{
    pugi::xml_node rows = add_table(
        body, {"part", "title", "state", "tests", "points", "of", "traffic, bytes", "virtual time, s"});
    for (const GradedPart& graded : grade.parts) {
        pugi::xml_node row = rows.append_child("tr");
        const Cost& cost = graded.result.cost;
        const bool counts = is_done(graded);
        add(row, "td", graded.part.id);
        add(row, "td", graded.part.title);
        add(row, "td", graded.status(), class_of(graded));
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
        if (is_done(graded) || !graded.submitted) continue;
        if (first) add(body, "h2", "What is wrong");
        first = false;
        add(body, "h3", fmt::format("{} {}: {}", graded.part.id, graded.part.title, graded.status()));
        add(body, "pre", or_dash(diagnosis(graded)));
    }
}

void add_submissions(pugi::xml_node body, const std::vector<Marked>& all,
                     const std::vector<std::string>& pages)
{
    pugi::xml_node rows = add_table(body, {"submission", "score", "of", "parts done", "late", "remarks"});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Grade& grade = all[i].grade;
        pugi::xml_node row = rows.append_child("tr");
        const std::string name = or_dash(plain_line(all[i].name));
        if (pages[i].empty())
            add(row, "td", name);
        else
            add(add(row, "td"), "a", name).append_attribute("href").set_value(pages[i].c_str());
        int done = 0;
        for (const GradedPart& graded : grade.parts) done += is_done(graded) ? 1 : 0;
        add(row, "td", number(grade.score()), "number");
        add(row, "td", number(grade.max()), "number");
        add(row, "td", fmt::format("{} of {}", done, grade.parts.size()), "number");
        add(row, "td", or_dash(late_text(grade)));
        add(row, "td", or_dash(plain_line(all[i].error)), "wrong");
    }
}

void add_how_many(pugi::xml_node body, const std::vector<Marked>& all)
{
    pugi::xml_node rows = add_table(body, {"part", "title", "done by", "mean points", "of"});
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
    }
}

}  // namespace

std::string student_html(const Marked& marked)
{
    const Grade& grade = marked.grade;
    Page page(plain_line(marked.name));
    pugi::xml_node body = page.body();
    add(body, "p", fmt::format("{} of {} points", number(grade.score()), number(grade.max())));
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
        if (!marked.grade.tamper_proof) {
            add_caution(page.body(), marked.grade);
            break;
        }
    add_submissions(page.body(), all, pages);
    add(page.body(), "h2", "The exercises");
    add_how_many(page.body(), all);
    add(page.body(), "p", "Test seed " + plain_line(all.front().grade.seed));
    return page.text();
}

}  // namespace shardlings

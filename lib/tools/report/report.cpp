#include "lib/tools/report/report.hpp"

#include <initializer_list>

#include "lib/tools/report/lanes.hpp"
#include "lib/tools/report/page.hpp"
#include "lib/tools/report/summary.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

// A page of some megabytes at most: an instruction in a lane takes 20 bytes or so, a point of memory 30.
constexpr std::size_t most_instructions = 100'000;
constexpr std::size_t most_memory_points = 40'000;

/// A column per figure: the names stand there once.
json columns_of(const json& steps, std::initializer_list<const char*> names)
{
    json columns;
    for (const char* name : names) {
        json& column = columns[name] = json::array();
        for (const json& step : steps) column.push_back(step.value(name, json()));
    }
    return columns;
}

json data_of(const RunRecord& run, const std::optional<Baseline>& baseline)
{
    const Topology& cluster = run.options.topology;
    const Excerpt excerpt = choose_excerpt(run.traces, most_instructions);
    json data{{"config", run.figures.at("config")},
              {"steps", columns_of(run.figures.at("steps"),
                                   {"step", "loss", "grad_norm", "virtual_seconds", "exposed_seconds"})},
              {"validation", run.figures.at("validation")},
              {"ranks", run.figures.at("ranks")},
              {"cluster", {{"nodes", cluster.nodes}, {"devices_per_node", cluster.devices_per_node}}},
              {"timeline", timeline_json(run.traces, excerpt)},
              {"memory", memory_json(run.traces, excerpt, most_memory_points)},
              {"baseline", nullptr}};
    if (baseline)
        data["baseline"] = {{"name", baseline->name},
                            {"steps", columns_of(baseline->figures.at("steps"), {"step", "loss"})}};
    return data;
}

/// JSON in which no "<" can end the element it stands in, or begin a comment.
std::string script_text(const json& data)
{
    std::string text;
    for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

}  // namespace

void write_report(const std::string& path, const RunRecord& run, const std::optional<Baseline>& baseline)
{
    const std::string title = html(title_of(run.options));
    std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    page +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n";
    page += "<title>Shardlings: " + title + "</title>\n<style>\n";
    page += page_style();
    page += "</style>\n</head>\n<body>\n<header><h1>A training run: " + title + "</h1></header>\n<main>\n";
    page += "<section id=\"summary\"><h2>Summary</h2>\n" + summary_html(run, baseline);
    page += "<noscript><p>The charts need JavaScript; these are their figures by rank.</p>\n" +
            ranks_table_html(run) + "</noscript></section>\n";
    page += page_panels();
    page += "</main>\n<script type=\"application/json\" id=\"data\">" + script_text(data_of(run, baseline)) +
            "</script>\n<script>\n" + page_scripts() + "</script>\n</body>\n</html>\n";
    write_text(path, page);
}

}  // namespace shardlings

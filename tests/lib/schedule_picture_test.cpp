// Schedules as pictures, and the pictures of pipelines that ran.
#include <algorithm>
#include <cmath>
#include <set>

#include "lib/tools/schedule/named.hpp"
#include "lib/tools/schedule/picture.hpp"
#include "tests/lib/trace_picture.hpp"
#include "tests/lib/trace_synthetic.hpp"

using namespace shardlings;
using pipeline::PassCosts;
using pipeline::Schedule;

namespace {

std::string picture_of(const Schedule& schedule, const PassCosts& costs = {})
{
    const TemporaryFolder folder;
    write_schedule_picture(folder / "s.svg", "a schedule", schedule, simulate(schedule, costs), costs);
    std::ostringstream text;
    text << std::ifstream(folder / "s.svg").rdbuf();
    return text.str();
}

/// How many lines the path of the sends has.
std::ptrdiff_t lines_of_sends(const Picture& picture)
{
    std::ptrdiff_t lines = 0;
    for (const pugi::xml_node& path : picture.all("//path[@class='message']"))
        lines += std::ranges::count(std::string(path.attribute("d").value()), 'M');
    return lines;
}

double bottom_of(const pugi::xml_node& box)
{
    return number(box, "y") + number(box, "height");
}

}  // namespace

TEST_CASE("a schedule's picture has a numbered box for every pass", "[schedule]")
{
    for (const char* name : {"naive", "gpipe", "1f1b"})
        for (const auto& [stages, micro_batches] : {std::pair{1, 1}, {2, 3}, {4, 8}, {8, 16}}) {
            const Schedule schedule = make_schedule(name, stages, micro_batches, 1);
            const std::string svg = picture_of(schedule);
            CHECK(svg == picture_of(schedule));
            const Picture picture(svg);
            const auto passes = static_cast<std::size_t>(stages * micro_batches);
            INFO(name << ", " << stages << " stages, " << micro_batches << " micro-batches");
            REQUIRE(picture.boxes("forward").size() == passes);
            REQUIRE(picture.boxes("backward").size() == passes);
            const double width = number(picture.all("/svg").at(0), "width");
            CHECK(width <= 2400.0);
            if (width < 2400.0) CHECK(picture.all("//text[@class='box']").size() == 2 * passes);
            CHECK(picture.texts(fmt::format("stage {}", stages - 1)) == 2);
            CHECK(picture.texts("a schedule") == 1);
            // An activation and a gradient for every micro-batch across every boundary.
            CHECK(lines_of_sends(picture) == 2 * (stages - 1) * micro_batches);
        }
}

TEST_CASE("micro-batches in flight are steps below, with their number at most", "[schedule]")
{
    const Picture picture(picture_of(make_schedule("1f1b", 4, 8, 1)));
    for (int most = 1; most <= 4; ++most) CHECK(picture.texts(fmt::format("peak {}", most)) == 1);
    CHECK(picture.texts("micro-batches in flight") == 1);
    const auto areas = picture.all("//path[@class='activations']");
    REQUIRE(areas.size() == 4);
    // The first stage: four steps up, 4 held until micro-batch 4 goes back, four down, and the outline
    // closes.
    CHECK(std::ranges::count(std::string(areas[0].attribute("d").value()), 'V') == 9);
    const Picture gpipe(picture_of(make_schedule("gpipe", 4, 8, 1)));
    CHECK(gpipe.texts("peak 8") == 4);
}

TEST_CASE("the bubble is hatched and told for every stage", "[schedule]")
{
    const Picture picture(picture_of(make_schedule("gpipe", 4, 8, 1)));
    CHECK(picture.texts("idle 27.3 %") == 4);
    const Picture interleaved(picture_of(make_schedule("interleaved", 4, 8, 2)));
    CHECK(interleaved.texts("idle 15.8 %") == 4);
}

TEST_CASE("chunks have shades, and sends around the ring a mark at both ends", "[schedule]")
{
    for (const int chunks : {2, 3}) {
        const Picture picture(picture_of(make_schedule("interleaved", 3, 6, chunks)));
        CHECK(picture.boxes("forward").size() == 18);
        std::set<std::string> colors;
        const std::string style = picture.all("//style").at(0).text().get();
        for (int chunk = 1; chunk < chunks; ++chunk)
            for (const char* pass : {"forward", "backward"}) {
                CHECK(picture.boxes(fmt::format("{} c{}", pass, chunk)).size() == 18);
                const std::size_t at = style.find(fmt::format(".{}.c{} {{ fill: #", pass, chunk));
                REQUIRE(at != std::string::npos);
                colors.insert(style.substr(style.find('#', at), 7));
            }
        CHECK(colors.size() == 2 * static_cast<std::size_t>(chunks - 1));
        CHECK(picture.texts(fmt::format("forward, chunk 0 to {}", chunks - 1)) == 1);
        // Two boundaries inside each chunk, and one between chunks, which goes around: two marks instead of a
        // line.
        CHECK(lines_of_sends(picture) == 6 * 2 * (2 * chunks + 2 * (chunks - 1)));
        CHECK(contains(picture.boxes("forward c1").at(0).child("title").text().get(), ", chunk 1: "));
    }
    CHECK(!contains(picture_of(make_schedule("1f1b", 3, 6, 1)), "c1"));
}

TEST_CASE("a send's line goes from the sender's row when it leaves to the receiver's when it arrives",
          "[schedule]")
{
    const Schedule schedule = make_schedule("gpipe", 2, 1, 1);
    const Picture picture(picture_of(schedule, {1.0, 2.0, 0.5}));
    const auto forward = picture.boxes("forward");
    const auto backward = picture.boxes("backward");
    REQUIRE(forward.size() == 2);
    REQUIRE(backward.size() == 2);
    const auto right = [](const pugi::xml_node& box) { return number(box, "x") + number(box, "width"); };
    const auto line = [](double x1, double y1, double x2, double y2) {
        return fmt::format("M{:.8g} {:.8g}L{:.8g} {:.8g}", x1, y1, x2, y2);
    };
    CHECK(picture.all("//path[@class='message']").at(0).attribute("d").value() ==
          line(right(forward[0]), bottom_of(forward[0]), number(forward[1], "x"), number(forward[1], "y")) +
              line(right(backward[1]), number(backward[1], "y"), number(backward[0], "x"),
                   bottom_of(backward[0])));
}

TEST_CASE("the traces of a schedule are the simulation's", "[schedule]")
{
    const Schedule schedule = make_schedule("1f1b", 3, 4, 1);
    const PassCosts costs{1.0, 2.0, 0.25};
    const auto spans = simulate(schedule, costs);
    const std::vector<RankTrace> traces = schedule_traces(schedule, spans, costs);
    REQUIRE(traces.size() == 3);
    for (std::size_t stage = 0; stage < 3; ++stage) {
        CHECK(traces[stage].rank == static_cast<int>(stage));
        REQUIRE(traces[stage].events.size() == schedule.programs[stage].size());
        std::int64_t held = 0;
        std::int64_t most = 0;
        for (const MemorySample& sample : traces[stage].memory) most = std::max(most, held += sample.change);
        CHECK(held == 0);
        CHECK(most == most_in_flight(schedule)[stage]);
        for (const Event& event : traces[stage].events)
            if (event.kind == "send") CHECK(event.end == event.begin + costs.message);
    }
    // A message that leaves while the link still carries the one before it waits for it.
    const PassCosts slow{1.0, 1.0, 3.0};
    const auto sends = schedule_traces(make_schedule("gpipe", 2, 2, 1),
                                       simulate(make_schedule("gpipe", 2, 2, 1), slow), slow)[0]
                           .events;
    std::vector<double> begins;
    for (const Event& event : sends)
        if (event.kind == "send") begins.push_back(event.begin);
    CHECK(begins == std::vector<double>{1.0, 4.0});
}

TEST_CASE("several pipelines are drawn one after the other", "[schedule]")
{
    std::vector<RankTrace> traces = gpipe_traces(2, 4);
    // Ranks 0 and 1 are stage 0, 2 and 3 stage 1.
    std::vector<RankTrace> grid{traces[0], traces[0], traces[1], traces[1]};
    for (int rank = 0; rank < 4; ++rank) grid[static_cast<std::size_t>(rank)].rank = rank;
    PictureOptions options;
    options.stages = 2;
    const Picture picture(svg_of(grid, options));
    std::vector<std::string> names;
    for (const pugi::xml_node& text : picture.all("//text[starts-with(text(), 'stage ')]"))
        names.push_back(text.text().get());
    const std::vector<std::string> rows{"stage 0, dp 0", "stage 1, dp 0", "stage 0, dp 1", "stage 1, dp 1"};
    REQUIRE(names.size() == 8);
    CHECK(std::vector<std::string>(names.begin(), names.begin() + 4) == rows);
    CHECK(std::vector<std::string>(names.begin() + 4, names.end()) == rows);
    options.stages = 3;
    CHECK(contains(error_of([&] { svg_of(grid, options); }), "3 pipeline stages on 4 devices"));
}

TEST_CASE("a pipeline that ran shows its modules only where their names fit", "[schedule]")
{
    RankTrace trace;
    for (int m = 0; m < 4; ++m)
        for (int module = 0; module < 2; ++module) {
            const double begin = 1e-6 * (2 * m + module);
            trace.events.push_back(
                {fmt::format("forward h.{}", module), "forward", begin, begin + 1e-6, 0.0, 0, -1, m});
            trace.events.back().end = module == 1 ? 1e-6 * (2 * m + 2) : 1e-6 * (2 * m + 1);
        }
    PictureOptions options;
    options.stages = 1;
    CHECK(Picture(svg_of({trace}, options)).boxes("forward").size() == 4 + 8);
    CHECK(Picture(svg_of({trace}, options)).texts("h.1") == 4);
    for (int m = 4; m < 200; ++m)
        trace.events.push_back({"forward h.0", "forward", 1e-6 * (2 * m), 1e-6 * (2 * m + 1), 0.0, 0, -1, m});
    const Picture crowded(svg_of({trace}, options));
    CHECK(crowded.texts("h.1") == 0);
    CHECK(crowded.boxes("forward").size() == 200);
}

TEST_CASE("an event's chunk goes with it from rank to rank", "[schedule]")
{
    const Schedule schedule = make_schedule("interleaved", 2, 2, 2);
    const RankTrace trace = schedule_traces(schedule, simulate(schedule, {}), {})[1];
    const RankTrace copy = from_bytes(to_bytes(trace));
    REQUIRE(copy.events.size() == trace.events.size());
    std::set<int> chunks;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        CHECK(copy.events[i].chunk == trace.events[i].chunk);
        chunks.insert(copy.events[i].chunk);
    }
    CHECK(chunks == std::set<int>{-1, 0, 1});
}

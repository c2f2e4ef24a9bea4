// The SVG picture, read back.
#include <cmath>

#include "tests/lib/trace_picture.hpp"
#include "tests/lib/trace_synthetic.hpp"

using namespace shardlings;

TEST_CASE("a pipeline's picture has a box for every pass, as wide as it is long", "[trace]")
{
    for (const int stages : {1, 4, 32}) {
        const int micro_batches = 8;
        const Picture picture(svg_of(gpipe_traces(stages, micro_batches)));
        const double step = 3.0 * (micro_batches + stages - 1);
        const double per_us = (1200.0 - 124.0 - 112.0) / step;
        const auto forward = picture.boxes("forward");
        const auto backward = picture.boxes("backward");
        REQUIRE(forward.size() == static_cast<std::size_t>(stages * micro_batches));
        REQUIRE(backward.size() == forward.size());
        for (std::size_t i = 0; i < forward.size(); ++i) {
            const int stage = static_cast<int>(i) / micro_batches;
            const int m = static_cast<int>(i) % micro_batches;
            CHECK(std::abs(number(forward[i], "width") - per_us) <= rounding);
            CHECK(std::abs(number(backward[i], "width") - 2.0 * per_us) <= rounding);
            CHECK(std::abs(number(forward[i], "x") - 124.0 - (stage + m) * per_us) <= rounding);
        }
        // Every device's idle share is the bubble, (P - 1) / (M + P - 1).
        const double bubble = 100.0 * (stages - 1) / (micro_batches + stages - 1);
        CHECK(picture.texts(fmt::format("idle {:.1f} %", bubble)) == stages);
        CHECK(picture.all("//rect[@class='idle' and @width='964']").size() ==
              static_cast<std::size_t>(stages));
        CHECK(picture.texts("device 0") == 2);
        CHECK(picture.texts(fmt::format("Timeline of {} device{}", stages, stages == 1 ? "" : "s")) == 1);
        if (stages <= 4) CHECK(picture.texts("7") == 2 * stages);
    }
}

TEST_CASE("a picture is the same bytes every time and needs nothing from outside", "[trace]")
{
    std::vector<RankTrace> traces = gpipe_traces(4, 8);
    const std::string svg = svg_of(traces);
    CHECK(svg == svg_of(traces));
    std::swap(traces[0], traces[3]);
    CHECK(svg == svg_of(traces));
    const Picture picture(svg);
    CHECK(picture.all("//script").empty());
    CHECK(picture.all("//*[@href or @onload or @onclick]").empty());
    CHECK(picture.all("//image").empty());
}

TEST_CASE("names are escaped and fit their boxes", "[trace]")
{
    RankTrace trace;
    const std::string name = "<b> & \"q\" ]]>";
    trace.events = {{name, "compute", 0.0, 1.0, 0.0, 0, -1, -1},
                    {"\x01 \xff", "compute", 1.0, 2.0, 0.0, 0, -1, -1},
                    {std::string(200, 'w'), "compute", 2.0, 3.0, 0.0, 0, -1, -1}};
    PictureOptions options;
    options.title = "a < b";
    const Picture picture(svg_of({trace}, options));
    CHECK(picture.texts("a < b") == 1);
    const auto labels = picture.all("//text[@class='box']");
    REQUIRE(labels.size() == 2);
    CHECK(labels[0].text().get() == name);
    CHECK(labels[1].text().get() == std::string("  \xef\xbf\xbd"));
    REQUIRE(picture.boxes("compute").size() == 3);
    CHECK(contains(picture.boxes("compute")[0].child("title").text().get(), name));
}

TEST_CASE("memory is stacked to scale under the budget's line", "[trace]")
{
    std::vector<RankTrace> traces = gpipe_traces(2, 4);
    for (RankTrace& trace : traces) trace.budget = 10000;
    const Picture picture(svg_of(traces));
    // 4000 bytes of parameters and at most 4 * 1000 of activations.
    CHECK(picture.texts("peak " + std::string("7.812 KiB")) == 2);
    CHECK(picture.all("//path[@class='parameters']").size() == 2);
    CHECK(picture.all("//path[@class='activations']").size() == 2);
    CHECK(picture.all("//path[@class='gradients']").empty());
    const auto budgets = picture.all("//line[@class='budget' and @x1='124']");
    REQUIRE(budgets.size() == 2);
    const auto row = picture.all("//rect[@class='row' and @height='90']").at(0);
    const double base = number(row, "y") + number(row, "height");
    const double top = 1.06 * 10000.0;
    CHECK(std::abs(base - number(budgets[0], "y1") - 10000.0 / top * 90.0) <= rounding);
    const std::string area = picture.all("//path[@class='parameters']").at(0).attribute("d").value();
    CHECK(contains(area, fmt::format("V{:.2f}H1088", base - 4000.0 / top * 90.0)));
}

TEST_CASE("no budget draws no line, and one far above is only named", "[trace]")
{
    std::vector<RankTrace> traces = gpipe_traces(1, 4);
    CHECK(Picture(svg_of(traces)).all("//line[@class='budget']").empty());
    traces[0].budget = std::uint64_t{1} << 40;
    const Picture picture(svg_of(traces));
    CHECK(picture.all("//line[@class='budget' and @x1='124']").empty());
    CHECK(picture.texts("budget 1 TiB (above the scale)") == 1);
}

TEST_CASE("a picture of nothing, of events alone, of memory alone", "[trace]")
{
    CHECK(Picture(svg_of({})).texts("nothing was recorded") == 1);
    CHECK(Picture(svg_of({RankTrace{}})).texts("nothing was recorded") == 1);
    std::vector<RankTrace> traces = gpipe_traces(1, 1);
    traces[0].memory.clear();
    CHECK(Picture(svg_of(traces)).texts("Memory") == 0);
    traces[0].events.clear();
    traces[0].memory = {{0.0, Category::parameters, 1}};
    const Picture memory(svg_of(traces));
    CHECK(memory.texts("Work") == 0);
    CHECK(memory.all("//path[@class='parameters']").size() == 1);
}

TEST_CASE("a window shows its part of the trace", "[trace]")
{
    const std::vector<RankTrace> traces = gpipe_traces(1, 4);  // 4 µs forward, 8 µs backward
    PictureOptions options;
    options.begin = 3e-6;
    options.end = 6e-6;
    const Picture picture(svg_of(traces, options));
    CHECK(picture.boxes("forward").size() == 1);
    REQUIRE(picture.boxes("backward").size() == 1);
    CHECK(std::abs(number(picture.boxes("backward")[0], "width") - 964.0 * 2.0 / 3.0) <= rounding);
    options.begin = 1.0;
    options.end = 2.0;
    CHECK(contains(error_of([&] { svg_of(traces, options); }), "shows nothing: the trace ends at"));
    options.end = 0.5;
    CHECK(contains(error_of([&] { svg_of(traces, options); }), "an end after the begin"));
    options = {};
    options.width = 100;
    CHECK(contains(error_of([&] { svg_of(traces, options); }), "600 at least"));
}

TEST_CASE("what is narrower than a pixel is merged, and a short peak stays visible", "[trace]")
{
    RankTrace trace;
    for (int i = 0; i < 100000; ++i) {
        const double begin = 1e-6 * i;
        trace.events.push_back({"backward", "backward", begin, begin + 1e-6, 0.0, 0, -1, i});
        const std::int64_t held = i == 31415 ? 1000000 : 2000;
        trace.memory.push_back({begin, Category::workspace, held});
        trace.memory.push_back({begin, Category::workspace, -held});
    }
    const std::string svg = svg_of({trace});
    CHECK(svg.size() < 20000);
    const Picture picture(svg);
    CHECK(picture.boxes("backward").empty());
    CHECK(picture.texts("idle 0.0 %") == 1);
    CHECK(picture.texts("peak 976.6 KiB") == 1);
    // One run of columns across the whole frame.
    CHECK(contains(picture.all("//path[@class='backward']").at(0).attribute("d").value(), "h964v"));
}

TEST_CASE("idle time inside a pass is hatched over it", "[trace]")
{
    RankTrace trace;
    trace.events = {{"forward h.0", "forward", 0.0, 4.0, 0.0, 0, -1, 0},
                    {"receive", "receive", 1.0, 3.0, 0.0, 64, 1, -1}};
    const Picture picture(svg_of({trace}));
    CHECK(picture.texts("idle 50.0 %") == 1);
    const auto hatched = picture.all("//path[@class='idle']");
    REQUIRE(hatched.size() == 1);
    CHECK(contains(hatched[0].attribute("d").value(), "M365 "));
    CHECK(contains(hatched[0].attribute("d").value(), "h482v"));
    CHECK(picture.boxes("receive").size() == 1);
}

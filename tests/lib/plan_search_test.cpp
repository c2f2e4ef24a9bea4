// The search for layouts, what it says when there is none, and the reports.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/train/file.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"
#include "tests/lib/plan_run.hpp"

using namespace shardlings;
using namespace shardlings::plan;

namespace {

/// Of a grid and a micro-batch, every number of chunks tried.
std::int64_t legal_variants(const Run& run, Split split)
{
    std::int64_t legal = 0;
    for (const Schedule schedule :
         {Schedule::gpipe, Schedule::one_forward_one_backward, Schedule::interleaved})
        for (split.virtual_stages = 1; split.virtual_stages <= run.model.layers; ++split.virtual_stages)
            for (const bool sequence : {false, true}) {
                split.schedule = schedule;
                split.sequence_parallel = sequence;
                const bool same_as_1f1b = split.pp == 1 && schedule == Schedule::gpipe;
                const bool chunks = split.virtual_stages > 1;
                if (same_as_1f1b || chunks != (schedule == Schedule::interleaved)) continue;
                if (run.model.layers % (split.pp * split.virtual_stages) != 0) continue;
                if (error_of([&] { check_split(run, split); }) == "no error")
                    legal += 3 * (split.dp > 1 ? 4 : 1);  // recomputation, ZeRO stages
            }
    return legal;
}

}  // namespace

TEST_CASE("every legal layout is searched, and the plan keeps the best")
{
    const Run run = run_of("megatron-1t", 3072);
    const Cluster cluster = a100(4096);
    const std::vector<Split> splits = all_splits(run, cluster, {});
    // Counted anew, from every number instead of the divisors alone, and by check_split.
    std::int64_t legal = 0;
    for (std::int64_t tp = 1; tp <= 160; ++tp)
        for (std::int64_t pp = 1; pp <= 128; ++pp) {
            if (4096 % (tp * pp) != 0) continue;
            Split split;
            split.tp = tp;
            split.pp = pp;
            split.dp = 4096 / tp / pp;
            for (split.micro_batch = 1; split.micro_batch <= 3072; ++split.micro_batch)
                if (3072 % (split.dp * split.micro_batch) == 0) legal += legal_variants(run, split);
        }
    CHECK(std::ssize(splits) == legal);
    CHECK(legal == 30936);
    for (std::size_t i = 0; i < splits.size(); i += 97) check_split(run, splits[i]);

    const Plan plan = search(run, cluster, {});
    CHECK(plan.layouts == legal);
    CHECK(plan.fitting > 0);
    CHECK(std::is_sorted(plan.best.begin(), plan.best.end(),
                         [](const Planned& a, const Planned& b) { return a.seconds() < b.seconds(); }));
    for (const Planned& layout : plan.best) CHECK(layout.memory.total() <= cluster.memory);
    for (const Planned& layout : plan.large) CHECK(layout.memory.total() > cluster.memory);
    double fastest = 1e30;
    for (const Split& split : splits)
        if (largest_memory(run, split).total() <= cluster.memory)
            fastest = std::min(fastest, step_time(run, split, cluster).total());
    CHECK(plan.best.front().seconds() == fastest);
}

TEST_CASE("what is wanted is kept to")
{
    Wanted wanted;
    wanted.zero = 1;
    wanted.tp = 2;
    wanted.recompute = Recompute::full;
    const Plan plan = search(run_of("gpt2-medium", 64), a100(16), wanted);
    REQUIRE(!plan.best.empty());
    for (const Planned& layout : plan.best) {
        CHECK(layout.split.zero == 1);
        CHECK(layout.split.tp == 2);
        CHECK(layout.split.recompute == Recompute::full);
    }
}

TEST_CASE("nothing fits: by how much, of what, and what would fit")
{
    const Run run = run_of("gpt3-175b", 64);
    const auto advice = [&](const Cluster& cluster, const Wanted& wanted) {
        const Plan plan = search(run, cluster, wanted);
        REQUIRE(plan.fitting == 0);
        return what_would_fit(run, cluster, wanted, plan);
    };
    const std::string few = advice(a100(8), {});
    CHECK(contains(few, "nothing fits"));
    CHECK(contains(few, "too much; most of it, "));
    CHECK(contains(few, "is for optimizer states"));
    CHECK(contains(few, "; on 64 devices something would"));
    Wanted plain;
    plain.zero = 0;
    plain.tp = 1;
    const std::string wanted = advice(a100(64), plain);
    CHECK(contains(wanted, "; without --zero "));
    CHECK(contains(wanted, "; without --tp "));
}

TEST_CASE("what does not divide, is unknown or missing is one message")
{
    const Run run = run_of("gpt2-xl", 24);
    const auto refused = [&](auto change) {
        Split split;
        change(split);
        return error_of([&] { check_split(run, split); });
    };
    CHECK(refused([](Split& s) { s.tp = 2; }) == "25 heads are not divisible by --tp 2");
    CHECK(contains(refused([](Split& s) { s.pp = 5; }), "48 layers are not divisible by --pp"));
    CHECK(contains(refused([](Split& s) { s.dp = 7; }), "24 sequences of --batch are not divisible by --dp"));
    CHECK(contains(refused([](Split& s) { s.sequence_parallel = true; }), "--sequence-parallel needs --tp"));
    CHECK(contains(refused([](Split& s) { s.zero = 4; }), "--zero is 4"));
    CHECK(contains(refused([](Split& s) { s.virtual_stages = 2; }), "--virtual-stages 2"));
    CHECK(contains(refused([](Split& s) {
                       s.pp = 16;
                       s.virtual_stages = 3;
                       s.schedule = Schedule::interleaved;
                   }),
                   "24 micro-batches of an interleaved schedule are not divisible by --pp 16"));
    CHECK(contains(error_of([] { named_model("gpt9"); }), "there is no model 'gpt9': expected gpt2-small, "));
    CHECK(contains(error_of([] { named_cluster("b200"); }), "expected a100-80g, h100 or laptop"));
    CHECK(contains(error_of([] { a100(12); }), "12 devices do not fill nodes of 8"));
    CHECK(contains(error_of([] { search(run_of("gpt2-xl", 7), a100(64), {}); }),
                   "no layout of 64 devices is legal"));
}

TEST_CASE("a model from a file")
{
    const TemporaryFolder folder;
    const auto read = [&](const char* text) {
        write_text(folder / "model.json", text);
        return read_model((folder / "model.json").string());
    };
    const Model model = read(R"({"name": "mine", "layers": 32, "hidden": 4096, "heads": 32, "mlp": 11008,
        "vocabulary": 32000, "gated": true, "rms_norm": true, "tied": false, "biases": false,
        "positions": false})");
    CHECK(model.name == "mine");
    CHECK(exact_parameters(model) == 6'738'415'616);
    const auto refused = [&](const char* text) { return error_of([&] { read(text); }); };
    CHECK(contains(refused("[]"), "is not a JSON object"));
    CHECK(contains(refused(R"({"layer": 1})"), "'layer' is unknown: expected name, layers, hidden"));
    CHECK(contains(refused(R"({"layers": "1"})"), "'layers' is \"1\": expected a whole number"));
    CHECK(contains(refused(R"({"gated": 1})"), "'gated' is 1: expected true or false"));
    CHECK(contains(refused(R"({"layers": 2, "hidden": 10, "heads": 3})"), "10 is not divisible by 3 heads"));
}

TEST_CASE("reports hold what was counted")
{
    Run run = run_of("gpt3-175b", 1024);
    run.tokens = 300e9;
    const Cluster cluster = a100(1024);
    Wanted wanted;
    wanted.tp = 8;
    const Plan plan = search(run, cluster, wanted);
    const auto json = nlohmann::json::parse(plan_json(run, cluster, plan, 3));
    CHECK(json["best"].size() == 3);
    const auto& best = json["best"][0];
    CHECK(best["seconds"]["all"] == plan.best.front().seconds());
    const double days = 300e9 / (1024.0 * 2048.0) * plan.best.front().seconds() / 86400.0;
    CHECK(std::abs(best["days"].get<double>() / days - 1.0) < rounding);
    CHECK(std::abs(best["device_hours"].get<double>() / (days * 24.0 * 1024.0) - 1.0) < rounding);
    double sum = 0.0;
    for (const auto& [part, bytes] : best["bytes"].items()) sum += bytes.get<double>();
    CHECK(std::abs(sum / (2.0 * best["bytes"]["all"].get<double>()) - 1.0) < rounding);
    const std::string text = plan_text(run, cluster, plan, 3);
    CHECK(contains(text, "why the next ones lose"));
    CHECK(contains(text, "300.0 G tokens are 143051 steps"));
    const std::string picture = plan_picture(run, cluster, plan, 3);
    CHECK(contains(picture, "<title>gpt3-175b on 1024 a100-80g"));
    pugi::xml_document document;
    CHECK(document.load_string(picture.c_str()));
    // The page, and for each layout the parts of its time and memory that are not nothing; 13 of legends.
    std::size_t parts = 14;
    for (std::size_t i = 0; i < 3; ++i) {
        for (const auto& [name, value] : parts_of(plan.best[i].time)) parts += value > 0.0 ? 1 : 0;
        for (const auto& [name, value] : parts_of(plan.best[i].memory)) parts += value > 0.0 ? 1 : 0;
    }
    CHECK(document.select_nodes("//rect").size() == parts);

    const auto count = nlohmann::json::parse(count_json(run, plan.best.front().split, cluster));
    CHECK(count["parameters"]["exact"] == 174'604'259'328);
    CHECK(std::ssize(count["stages"]) == plan.best.front().split.pp);
    CHECK(contains(count_text(run, plan.best.front().split, cluster), "174 604 259 328"));
}

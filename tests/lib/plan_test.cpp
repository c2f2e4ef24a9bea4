// Counting and planning against published figures.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/states.hpp"
#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/report.hpp"
#include "lib/tools/train/file.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

using namespace shardlings;
using namespace shardlings::plan;

namespace {

constexpr double GiB = 1024.0 * 1024.0 * 1024.0;

Run run_of(const char* model, std::int64_t batch)
{
    Run run;
    run.model = named_model(model);
    run.batch = batch;
    return run;
}

Cluster a100(std::int64_t devices)
{
    Cluster cluster = named_cluster("a100-80g");
    cluster.devices = devices;
    cluster.check_sizes();
    return cluster;
}

/// Korthikanti et al. 2022, tables 3 and 5: TP 8, fp32 gradients.
struct Published {
    const char* model;
    std::int64_t pp, chunks, micro_batch, batch;
    double full;       // seconds of an iteration, everything recomputed
    double selective;  // sequence-parallel, the attention recomputed
};

Split split_of(const Published& p, bool selective)
{
    Split split;
    split.pp = p.pp;
    split.tp = 8;
    split.virtual_stages = p.chunks;
    split.schedule = p.chunks > 1 ? Schedule::interleaved : Schedule::one_forward_one_backward;
    split.micro_batch = p.micro_batch;
    split.recompute = selective ? Recompute::selective : Recompute::full;
    split.sequence_parallel = selective;
    return split;
}

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

TEST_CASE("the named models have the parameters that their authors count")
{
    const auto exact = [](const char* name) { return exact_parameters(named_model(name)); };
    CHECK(exact("gpt2-small") == 124'439'808);
    CHECK(exact("gpt2-medium") == 354'823'168);
    CHECK(exact("gpt2-large") == 774'030'080);
    CHECK(exact("gpt2-xl") == 1'557'611'200);
    CHECK(exact("gpt3-175b") == 174'604'259'328);
    CHECK(exact("llama2-7b") == 6'738'415'616);
    CHECK(exact("llama2-13b") == 13'015'864'320);
    CHECK(exact("llama2-70b") == 68'976'648'192);
    // Printed in billions, so to within half of one's last digit.
    const auto billions = [&](const char* name, double published, double half) {
        CHECK(std::abs(static_cast<double>(exact(name)) / 1e9 - published) <= half);
    };
    billions("megatron-22b", 22, 0.5);
    billions("megatron-175b", 175, 0.5);
    billions("megatron-530b", 530, 0.5);
    // "1 trillion" is a name: 12 L h² alone is 1006.6 billion.
    billions("megatron-1t", 1008, 0.5);
    for (const Model& model : named_models()) {
        INFO(model.name);
        const double without = static_cast<double>(exact_parameters(model)) - rough_parameters(model).total();
        CHECK(without > 0.0);  // biases and norms: at most 13 h L + 2 h
        CHECK(without <= static_cast<double>(13 * model.hidden * model.layers + 2 * model.hidden));
    }
}

TEST_CASE("published iteration times to within a tenth with one set of constants")
{
    // The four of 22B and 175B are what the constants must give; 530B and 1T are beside them.
    for (const Published& p : {Published{"megatron-22b", 1, 1, 4, 4, 1.42, 1.10},
                               {"megatron-175b", 8, 3, 1, 64, 18.13, 13.75},
                               {"megatron-530b", 35, 3, 1, 280, 49.05, 37.83},
                               {"megatron-1t", 64, 1, 1, 512, 94.42, 71.49}})
        for (const bool selective : {false, true}) {
            Run run = run_of(p.model, p.batch);
            run.gradient_bytes = 4.0;
            const Split split = split_of(p, selective);
            check_split(run, split);
            const double seconds = step_time(run, split, a100(split.devices())).total();
            const double published = selective ? p.selective : p.full;
            INFO(p.model << (selective ? ", selective: " : ", full: ") << seconds << " s, published "
                         << published << " s");
            CHECK(std::abs(seconds / published - 1.0) <= 0.10);
            CHECK(largest_memory(run, split).total() <= a100(split.devices()).memory);
        }
}

TEST_CASE("activations and states of Korthikanti et al., figure 1")
{
    struct Row {
        Published layout;
        double kept;       // GiB, nothing recomputed, not sequence-parallel
        double selective;  // GiB
    };
    for (const Row& row : {Row{{"megatron-22b", 1, 1, 4, 4, 0, 0}, 59.25, 9.5625},
                           {{"megatron-175b", 8, 3, 1, 64, 0, 0}, 66.84375, 12.3515625}}) {
        const Run run = run_of(row.layout.model, row.layout.batch);
        Split split = split_of(row.layout, true);
        INFO(row.layout.model);
        CHECK(std::abs(memory_of(run, split, 0).activations / GiB / row.selective - 1.0) <= 0.001);
        split.recompute = Recompute::none;
        split.sequence_parallel = false;
        CHECK(std::abs(memory_of(run, split, 0).activations / GiB / row.kept - 1.0) <= 0.001);
    }
}

TEST_CASE("lesson 10's formulas for its own kind of model")
{
    counting::Job job;
    job.shape = {24, 512, 8, 256, 1000};
    job.layout.pp = 4;
    job.layout.tp = 2;
    job.layout.schedule = "interleaved";
    job.layout.virtual_stages = 3;
    job.dtype = DType::bf16;
    job.micro_batches = 8;
    job.batch = 16;
    Run run;
    run.model = {"", 24, 512, 8, 0, 0, 256, 1000};
    run.model.finish();
    run.batch = 16;
    Split split;
    split.pp = 4;
    split.tp = 2;
    split.schedule = Schedule::interleaved;
    split.virtual_stages = 3;
    split.micro_batch = 2;
    CHECK(exact_parameters(run.model) == job.shape.parameters());
    CHECK(rough_parameters(run.model).total() == counting::rough_parameters(job.shape).total());
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
        for (const bool sequence : {false, true}) {
            job.recompute = split.recompute = recompute;
            job.layout.sequence_parallel = split.sequence_parallel = sequence;
            CHECK(std::abs(saved_by_block(run, split) / counting::megatron_saved_by_block(job) - 1.0) <
                  1e-12);
        }
    for (int stage = 0; stage < 4; ++stage) {
        CHECK(std::abs(held_micro_batches(run, split, stage) * 3.0 - counting::passes_in_flight(job, stage)) <
              1e-12);
        // Without padding the states are the same to the byte.
        CHECK(memory_of(run, split, stage).states() ==
              static_cast<double>(counting::state_bytes(job, {stage, 0}).total()));
    }
}

TEST_CASE("model states of Rajbhandari et al., table 1")
{
    // 7.5B parameters: one device's of a model whose states are all there is.
    Run run = run_of("gpt2-small", 1024);
    const double parameters = parameters_of_stage(run.model, Split{}, true, true);
    CHECK(parameters == static_cast<double>(exact_parameters(run.model)));
    for (const auto& [dp, stage1, stage2, stage3] : {std::tuple{1, 120.0, 120.0, 120.0},
                                                     {4, 52.5, 41.3, 30.0},
                                                     {16, 35.6, 21.6, 7.5},
                                                     {64, 31.4, 16.6, 1.88},
                                                     {256, 30.4, 15.4, 0.47},
                                                     {1024, 30.1, 15.1, 0.12}}) {
        Split split;
        split.dp = dp;
        for (const auto& [zero, published] : {std::pair{1, stage1}, {2, stage2}, {3, stage3}}) {
            split.zero = zero;
            const double states = memory_of(run, split, 0).states() * 7.5e9 / parameters / 1e9;
            INFO("dp " << dp << ", ZeRO " << zero << ": " << states << " GB, published " << published);
            // Printed with one digit behind the point, below 10 with two.
            CHECK(std::abs(states - published) <= (published < 7.0 ? 0.005 : 0.051));
        }
    }
}

TEST_CASE("the parts of memory and time follow what they depend on")
{
    const Run run = run_of("megatron-175b", 64);
    Split split = split_of({"", 8, 1, 1, 64, 0, 0}, true);
    SECTION("stages hold fewer micro-batches towards the end, and GPipe all of them")
    {
        for (std::int64_t stage = 0; stage < 8; ++stage)
            CHECK(held_micro_batches(run, split, stage) == static_cast<double>(8 - stage));
        split.schedule = Schedule::gpipe;
        CHECK(held_micro_batches(run, split, 3) == 64.0);
        split.schedule = Schedule::interleaved;
        split.virtual_stages = 3;
        // 1 + (P − 1) / (P V) of a whole 1F1B's P.
        CHECK(std::abs(held_micro_batches(run, split, 0) - 8.0 * (1.0 + 7.0 / 24.0)) < 1e-12);
    }
    SECTION("stages and tensor-parallel ranks have all parameters between them, tied ones twice")
    {
        split.tp = 1;
        double sum = 0.0;
        for (int stage = 0; stage < 8; ++stage)
            sum += parameters_of_stage(run.model, split, stage == 0, stage == 7);
        CHECK(sum ==
              static_cast<double>(exact_parameters(run.model) + run.model.vocabulary * run.model.hidden));
    }
    SECTION("the bubble is (P - 1) / V micro-batches")
    {
        const double whole = step_time(run, split, a100(64)).bubble;
        split.schedule = Schedule::interleaved;
        split.virtual_stages = 3;
        // But for more messages in each.
        CHECK(std::abs(step_time(run, split, a100(64)).bubble / whole * 3.0 - 1.0) < 0.02);
    }
    SECTION("twice the links' bandwidth halves the bytes' time, and not the messages'")
    {
        Cluster fast = a100(64);
        fast.intra = {0.0, 2.0 * fast.intra.bandwidth};
        Cluster slow = a100(64);
        slow.intra.latency = 0.0;
        const double ratio = step_time(run, split, slow).tensor / step_time(run, split, fast).tensor;
        CHECK(std::abs(ratio - 2.0) < 1e-9);
    }
    SECTION("the tensor-parallel group's bytes: 4 all-reduces a block, 5 sequence-parallel")
    {
        const double activation = 2.0 * 2048 * 12288;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 5 * 2 * 7 / 8 * activation);
        split.sequence_parallel = false;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 4 * 2 * 7 / 8 * activation);
        split.recompute = Recompute::full;
        CHECK(traffic_of(run, split).tensor == 64.0 * 12 * 6 * 2 * 7 / 8 * activation);
    }
}

TEST_CASE("a ring leaves its node by all its members' links")
{
    const Cluster cluster = a100(64);
    CHECK(ring_of(cluster, 8, 1).bandwidth == 300e9 * 0.70);
    CHECK(ring_of(cluster, 16, 1).bandwidth == 8 * 25e9 * 0.70);
    CHECK(ring_of(cluster, 8, 8).bandwidth == 25e9 * 0.70);
    CHECK(ring_of(cluster, 16, 4).bandwidth == 2 * 25e9 * 0.70);
    CHECK(ring_of(cluster, 1, 8).gather(1e9) == 0.0);
    const Ring ring{4.0, 1e9, 1e-3};
    CHECK(std::abs(ring.gather(4e9) - 3.0 * (1e-3 + 1.0)) < 1e-12);
}

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
    CHECK(std::abs(best["days"].get<double>() / days - 1.0) < 1e-12);
    CHECK(std::abs(best["device_hours"].get<double>() / (days * 24.0 * 1024.0) - 1.0) < 1e-12);
    double sum = 0.0;
    for (const auto& [part, bytes] : best["bytes"].items()) sum += bytes.get<double>();
    CHECK(std::abs(sum / (2.0 * best["bytes"]["all"].get<double>()) - 1.0) < 1e-12);
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

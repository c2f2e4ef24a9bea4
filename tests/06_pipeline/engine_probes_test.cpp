#include "tests/06_pipeline/probe_case.hpp"
#include "tests/06_pipeline/random_schedule.hpp"

using namespace pipeline_test;

namespace {

/// Modules of different work, saving different amounts, a few in every chunk.
ProbeRun probe_run(const std::string& name, Schedule schedule)
{
    ProbeRun run;
    run.name = name;
    Dice dice(name);
    for (int c = 0; c < schedule.stages * schedule.chunks; ++c) {
        const int modules = 1 + static_cast<int>(dice.roll(2));
        run.chunk_modules.push_back(modules);
        for (int i = 0; i < modules; ++i)
            run.model.work.push_back({1e6 * static_cast<double>(1 + dice.roll(5)),
                                      1e6 * static_cast<double>(1 + dice.roll(9)),
                                      static_cast<int>(dice.roll(4)), dice.roll(2) == 0});
    }
    for (int m = 0; m < schedule.micro_batches; ++m) run.sequences.push_back(2);
    run.model.hidden = 8;
    run.tokens = 3;
    run.schedule = std::move(schedule);
    return run;
}

/// Forwards of all micro-batches, then backwards of all: GPipe's order, on every stage.
Schedule forwards_then_backwards(int stages, int micro_batches)
{
    Schedule schedule{stages, micro_batches, 1, std::vector<Program>(static_cast<std::size_t>(stages))};
    for (int s = 0; s < stages; ++s)
        for (const Action pass : {Action::forward, Action::backward})
            for (int m = 0; m < micro_batches; ++m)
                pipeline::append_pass(schedule, s, pass, m, 0,
                                      schedule.programs[static_cast<std::size_t>(s)]);
    return schedule;
}

std::string sizes_text(const Schedule& schedule)
{
    return fmt::format("P = {}, M = {}, V = {}", schedule.stages, schedule.micro_batches, schedule.chunks);
}

std::string random_name(const RandomOrder& order, const char* rest)
{
    return fmt::format("P = {}, M = {}, V = {}, a right schedule in random order{}", order.stages,
                       order.micro_batches, order.chunks, rest);
}

/// Orders that every kind of test is made with.
std::vector<RandomOrder> random_orders()
{
    return {{1, 4, 1}, {2, 1, 1}, {2, 5, 1, true}, {2, 3, 2}, {2, 4, 3},
            {3, 4, 1}, {3, 3, 2}, {4, 8, 1},       {4, 4, 2}};
}

}  // namespace

TEST_CASE("06.4 run_program: what is called when, and with what", "[06.4]")
{
    std::vector<NamedCase> cases;
    for (const int stages : {1, 2, 3, 4})
        for (const int micro_batches : {1, 3}) {
            ProbeRun run = probe_run(fmt::format("P = {}, M = {}, naive", stages, micro_batches),
                                     pipeline::naive_schedule(stages, micro_batches));
            run.loss_scale = 512.0;
            cases.push_back(probe_case(run));
        }
    for (const RandomOrder& order : random_orders()) {
        const std::string name = random_name(order, "");
        ProbeRun run = probe_run(name, random_schedule(name, order));
        run.link = random_link(name);
        run.model.dtype = DType::bf16;
        cases.push_back(probe_case(run));
    }
    // Micro-batches of different sizes, and pipelines whose stages are in another order than the ranks.
    const std::string name = random_name({3, 4, 1}, ", micro-batches of 1 to 4 sequences");
    ProbeRun uneven = probe_run(name, random_schedule(name, {3, 4, 1}));
    for (std::size_t m = 0; m < 4; ++m) uneven.sequences[m] = 1 + static_cast<std::int64_t>(m);
    cases.push_back(probe_case(uneven));
    ProbeRun beside = probe_run("two pipelines of 2 stages, P = 2, M = 3", forwards_then_backwards(2, 3));
    beside.pipelines = {{2, 1}, {3, 0}};
    cases.push_back(probe_case(beside));
    run_and_check("engine", cases);
}

TEST_CASE("06.4 run_program: activations in flight are held, and no others", "[06.4]")
{
    std::vector<NamedCase> cases;
    for (const bool recompute : {false, true}) {
        const char* rest = recompute ? ", with recomputation" : "";
        for (const int stages : {1, 2, 3, 4}) {
            const Schedule naive = pipeline::naive_schedule(stages, 2);
            const Schedule all = forwards_then_backwards(stages, 4);
            for (const auto& [kind, schedule] :
                 {std::pair{"naive", naive}, std::pair{"all forward, then all backward", all}}) {
                ProbeRun run = probe_run(fmt::format("{}, {}{}", sizes_text(schedule), kind, rest), schedule);
                run.recompute = recompute;
                cases.push_back(probe_case(run));
            }
        }
        for (const RandomOrder& order : random_orders()) {
            const std::string name = random_name(order, rest);
            ProbeRun run = probe_run(name, random_schedule(name, order));
            run.recompute = recompute;
            cases.push_back(probe_case(run));
        }
    }
    run_and_check("engine", cases);
}

TEST_CASE("06.4 run_program: sends go on beside the next pass", "[06.4]")
{
    std::vector<NamedCase> cases;
    for (const int stages : {2, 3, 4}) {
        // A message takes about as long as a pass, or several times as long: then the link is busy.
        for (const double latency : {2e-6, 20e-6}) {
            ProbeRun run =
                probe_run(fmt::format("P = {}, M = 5, a message takes {} µs", stages, latency * 1e6),
                          forwards_then_backwards(stages, 5));
            run.link = {latency, 50e9};
            cases.push_back(probe_case(run));
        }
    }
    // By hand: P = 2, M = 3, all passes 1 ms, messages 5 ms. Stage 0's messages leave at 1, 6 and 11 ms, one
    // link carries one at a time, and arrive at 6, 11 and 16; stage 1 goes forward until 17 and backward
    // until 20, its messages arrive at 23, 28 and 33, and stage 0 ends at 34 ms.
    ProbeRun by_hand = probe_run("P = 2, M = 3, by hand", forwards_then_backwards(2, 3));
    by_hand.chunk_modules = {1, 1};
    by_hand.model.work = {{1e9, 1e9, 1, true}, {1e9, 1e9, 1, true}};
    by_hand.link = {5e-3, 1e300};
    const NamedCase replayed = probe_case(by_hand);
    cases.push_back(
        {by_hand.name, replayed.input,
         [=](const CaseResult& result) {
             std::vector<std::string> messages = replayed.check(result);
             // Fewer than 20 sums of milliseconds.
             messages.push_back(on_rank(
                 0, compare_number("the clock at the end", result.ranks[0].outputs.at("clock").get<double>(),
                                   34e-3, {20.0 * epsilon_of(DType::fp64), 0.0})));
             return messages;
         },
         replayed.if_stuck});
    run_and_check("engine", cases);
}

TEST_CASE("06.4 run_forward: forward only, keeping nothing", "[06.4]")
{
    std::vector<NamedCase> cases;
    for (const int stages : {1, 2, 3, 4})
        for (const int chunks : {1, 2}) {
            if (stages == 1 && chunks == 2) continue;
            ProbeRun run =
                probe_run(fmt::format("P = {}, M = 3, V = {}", stages, chunks), {stages, 3, chunks, {}});
            run.forward_only = true;
            cases.push_back(probe_case(run));
        }
    run_and_check("engine", cases);
}

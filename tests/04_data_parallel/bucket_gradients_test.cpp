#include "tests/04_data_parallel/gradients_run.hpp"
#include "tests/04_data_parallel/models.hpp"

using namespace data_parallel_test;

namespace {

std::vector<NamedCase> sums_cases(int ranks)
{
    std::vector<NamedCase> cases;
    const auto add = [&](GradientsRun run) {
        run.ranks = ranks;
        run.overlap = cases.size() % 3 != 2;
        cases.push_back(sums_case(run));
    };
    for (const bool all : {true, false}) {
        add({.name = "a bucket a module", .model = tied_gpt, .all = all});
        add({.name = "two buckets",
             .model = tied_gpt,
             .bucket_elements = 30,
             .micro_batches = 3,
             .all = all});
        add({.name = "one bucket",
             .model = tied_gpt,
             .dtype = DType::fp64,
             .bucket_elements = 1000,
             .micro_batches = 2,
             .all = all});
        add({.name = "three ties", .model = several_ties, .micro_batches = 2, .all = all});
        add({.name = "modules without parameters", .model = empty_modules, .micro_batches = 2, .all = all});
        add({.name = "one element", .model = single, .all = all});
        add({.name = "a rank without counted targets",
             .model = tied_gpt,
             .all = all,
             .silent_rank = ranks - 1});
        for (const DType dtype : all_dtypes)
            add({.name = "random gradients",
                 .model = tied_gpt,
                 .dtype = dtype,
                 .bucket_elements = 20,
                 .micro_batches = 2,
                 .all = all,
                 .random = true});
    }
    return cases;
}

/// `scale` times random seconds for every module.
std::vector<double> random_seconds(const std::string& name, const ModelSizes& model, double scale)
{
    std::vector<double> seconds =
        random_values(name, static_cast<std::int64_t>(model.modules.size()), DType::fp64);
    for (double& value : seconds) value = scale * (0.5 + std::abs(value));
    return seconds;
}

std::vector<NamedCase> time_cases(int ranks)
{
    std::vector<NamedCase> cases;
    // A ring takes 2 (p − 1) times 1 to 9 µs and more: computing takes less, about as much, more.
    for (const double scale : {1e-6, 2e-5, 1e-3})
        for (const bool overlap : {true, false})
            for (const std::int64_t bucket_elements : {0, 30, 1000}) {
                GradientsRun run{.name = fmt::format("modules of {} s", scale),
                                 .model = tied_gpt,
                                 .ranks = ranks,
                                 .bucket_elements = bucket_elements,
                                 .micro_batches = 2,
                                 .overlap = overlap};
                run.all = bucket_elements != 30;
                run.seconds = random_seconds(run.name, run.model, scale);
                run.topology.devices_per_node = ranks;
                run.topology.intra = random_link(run.name);
                if (!overlap) run.name += ", no overlap";
                cases.push_back(time_case(run));
            }
    return cases;
}

std::vector<NamedCase> for_ranks(std::vector<NamedCase> (*cases)(int), const std::vector<int>& ranks)
{
    std::vector<NamedCase> all;
    for (const int p : ranks)
        for (NamedCase& one : cases(p)) all.push_back(std::move(one));
    return all;
}

// --- run_beside -------------------------------------------------------------------------------------------

struct Beside {
    bool overlap;
    std::vector<double> compute, collective;
};

std::vector<std::string> check_beside(const Beside& one, const RankResult& result)
{
    const auto list = [&](const char* name) { return result.outputs.at(name).get<std::vector<double>>(); };
    const auto streams = list("streams"), done = list("done"), clocks = list("clocks");
    if (streams.size() != one.compute.size())
        return {fmt::format("the collective ran {} times in {} calls", streams.size(), one.compute.size())};
    double compute = 0.0, communication = 0.0;
    std::vector<double> begins;
    std::string names, kinds;
    std::vector<std::string> messages;
    const auto expect = [&](const std::string& name, double got, double expected) {
        messages.push_back(compare_number(name, got, expected, {}));
    };
    for (std::size_t i = 0; i < one.compute.size(); ++i) {
        compute += one.compute[i];
        begins.push_back(std::max(compute, communication));
        communication = begins.back() + one.collective[i];
        if (!one.overlap) compute = communication;
        names += fmt::format("bucket {}; ", i);
        kinds += "communication; ";
        if (streams[i] != static_cast<double>(one.overlap ? Stream::communication : Stream::compute))
            messages.push_back(fmt::format("the collective ran on the {} stream",
                                           one.overlap ? "compute" : "communication"));
        expect(fmt::format("what call {} returns", i), done[i], communication);
        expect(fmt::format("the compute stream's clock after call {}", i), clocks[i], compute);
    }
    for (const auto& [name, expected] : {std::pair("names", names), std::pair("kinds", kinds)})
        if (result.outputs.at(name) != expected)
            return {fmt::format("the recorded events have the {} '{}', expected '{}'", name,
                                result.outputs.at(name).get<std::string>(), expected)};
    for (std::size_t i = 0; i < begins.size(); ++i) {
        expect(fmt::format("the begin of event {}", i), list("begins")[i], begins[i]);
        expect(fmt::format("the end of event {}", i), list("ends")[i], begins[i] + one.collective[i]);
        if (list("event_streams")[i] != streams[i])
            messages.push_back("the event is recorded on another stream than the collective ran on");
    }
    expect("the clock after waiting", result.outputs.at("clock").get<double>(),
           std::max(compute, communication));
    return messages;
}

NamedCase beside_case(const Beside& one)
{
    return {fmt::format("{} collectives {}", one.compute.size(), one.overlap ? "beside" : "without overlap"),
            one_rank("run_beside",
                     {{"overlap", one.overlap}, {"compute", one.compute}, {"collective", one.collective}}),
            [=](const RankResult& result) { return check_beside(one, result); }};
}

}  // namespace

TEST_CASE("04.3 BucketGradients: sums, when what is sent, memory", "[04.3]")
{
    run_and_check("bucket_gradients", for_ranks(sums_cases, {2, 3, 4, 8, 1}));
}

TEST_CASE("04.3 BucketGradients: virtual time beside the backward pass, and finish", "[04.3]")
{
    run_and_check("bucket_gradients", for_ranks(time_cases, {2, 3}));
}

TEST_CASE("04.3 run_beside: streams, time and events", "[04.3]")
{
    std::vector<NamedCase> cases;
    for (const bool overlap : {true, false}) {
        cases.push_back(beside_case({overlap, {3.0}, {5.0}}));
        cases.push_back(beside_case({overlap, {1.0, 2.0, 16.0, 0.0}, {4.0, 8.0, 2.0, 0.5}}));
    }
    run_and_check("bucket_gradients", cases);
}

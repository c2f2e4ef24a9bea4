#include "lib/tools/grade/judge.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "lib/tools/grade/judge_sandbox.hpp"
#include "lib/tools/grade/protocol.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/launch/watched.hpp"
#include "lib/tools/watch/supervise.hpp"

namespace grade {

namespace {

constexpr std::size_t diagnosis_lines = 12;
constexpr int failures_allowed = 3;  // of launches, in one run_cases

json describe(const CaseInput& one)
{
    Topology topology = one.topology;
    if (topology.devices() < static_cast<int>(one.ranks.size()))
        topology.devices_per_node = static_cast<int>(one.ranks.size());
    return {{"operation", one.operation},
            {"ranks", one.ranks},
            {"budget", one.budget},
            {"nodes", topology.nodes},
            {"devices_per_node", topology.devices_per_node},
            {"intra", {topology.intra.latency, topology.intra.bandwidth}},
            {"inter", {topology.inter.latency, topology.inter.bandwidth}},
            {"flops", topology.flops}};
}

struct Driver {
    std::string file;  // whose code is in question, without its ending
    std::string program;
};

Driver driver_of(const std::string& file)
{
    const char* folder = std::getenv("SHARDLINGS_DRIVERS");
    check(folder != nullptr,
          "SHARDLINGS_DRIVERS is not set: run these tests with make solution-NN or exercise-NN");
    for (const std::string& name : {file, std::string("all")}) {
        std::string path = std::string(folder) + "/" + name;
        if (std::filesystem::exists(path)) return {file, path};
    }
    throw Error(fmt::format("there is no driver for {} in {}: it did not compile", file, folder));
}

void read_results(const std::string& folder, std::size_t rank, Outcomes& outcomes)
{
    std::ifstream file(results_file(folder, static_cast<int>(rank)), std::ios::binary);
    std::uint64_t head[2] = {};
    while (file.read(reinterpret_cast<char*>(head), sizeof head)) {
        const auto [index, size] = head;
        std::vector<char> bytes(size);
        if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) return;
        if (index < outcomes.size()) outcomes[index][rank].result = json::from_cbor(bytes, true, false);
    }
}

RankResult result_of(Outcome outcome)
{
    RankResult result;
    json& stored = outcome.result;
    const auto taken = [&](const char* name) {
        return stored.contains(name) ? std::move(stored.at(name)) : json::object();
    };
    if (!outcome.unfinished.empty()) result.measured = {{"timeline", std::move(outcome.unfinished)}};
    if (stored.is_discarded() || !stored.is_object()) return result;
    result.finished = true;
    result.error = stored.value("error", "");
    result.not_implemented = stored.value("not_implemented", false);
    result.out_of_memory = stored.value("out_of_memory", false);
    result.outputs = taken("outputs");
    result.measured = taken("measured");
    return result;
}

/// The last lines of what the driver printed, where its diagnosis stands.
std::string last_lines(const std::string& output)
{
    std::size_t begin = output.size();
    for (std::size_t lines = 0; begin > 0 && lines <= diagnosis_lines; --begin)
        if (output[begin - 1] == '\n' && begin != output.size() && ++lines > diagnosis_lines) break;
    return output.substr(begin);
}

bool is_ended_by_watch(const ProcessResult& process)
{
    return process.exit_code == watch::deadlock_code || process.exit_code == watch::mismatch_code;
}

/// What the watch said when it ended the run; empty when it did not.
std::string watch_report(const ProcessResult& process)
{
    constexpr std::string_view speaker = "watch: ";
    const std::size_t begin = process.output.rfind(speaker);
    if (!is_ended_by_watch(process) || begin == std::string::npos) return "";
    std::size_t end = process.output.find('\n', begin);
    for (std::size_t lines = 1;
         lines < diagnosis_lines && end != std::string::npos && process.output.compare(end + 1, 2, "  ") == 0;
         ++lines)
        end = process.output.find('\n', end + 1);
    return process.output.substr(begin + speaker.size(), end - begin - speaker.size());
}

std::string what_happened(const CaseResult& result, const ProcessResult& process, double limit)
{
    for (const RankResult& rank : result.ranks)
        if (!rank.error.empty()) return rank.error;
    const bool all =
        std::all_of(result.ranks.begin(), result.ranks.end(), [](const auto& r) { return r.finished; });
    if (all) return "";
    if (process.timed_out)
        return fmt::format(
            "stopped after {:.0f} s: does a rank wait for a message that nobody sends, or a loop not end?",
            limit);
    if (std::string report = watch_report(process); !report.empty()) return report;
    const std::string lines = last_lines(process.output);
    return lines.empty() ? "the program ended without a result and without a word: does the code end it?"
                         : lines;
}

/// Runs the cases from `first` on, as far as it comes.
ProcessResult run(const Driver& driver, const json& descriptions, std::size_t first, double limit,
                  Outcomes& outcomes)
{
    const TemporaryFolder temporary;
    const std::string& folder = temporary.path();
    const std::string source = driver.file + ".cpp";
    if (sandbox_wanted())
        return run_in_sandbox(driver.program, source, descriptions, first, limit, folder, outcomes);
    const std::vector<std::uint8_t> bytes = json::to_cbor(descriptions);
    std::ofstream(folder + "/" + cases_file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const std::size_t ranks = descriptions.front().at("ranks").size();
    const Command command =
        mpirun_command(static_cast<int>(ranks), {driver.program, folder, std::to_string(first)});
    ProcessResult process = run_captured(watched(command, source), mpirun_environment(), limit, folder);
    for (std::size_t rank = 0; rank < ranks; ++rank) read_results(folder, rank, outcomes);
    return process;
}

/// Runs the cases from `first` on; returns the index of the first that is not done.
std::size_t launch(const Driver& driver, const std::vector<CaseInput>& cases, const json& descriptions,
                   std::size_t first, double limit, std::vector<CaseResult>& results)
{
    const std::size_t ranks = cases[first].ranks.size();
    Outcomes outcomes(cases.size(), std::vector<Outcome>(ranks));
    const ProcessResult process = run(driver, descriptions, first, limit, outcomes);
    for (std::size_t i = first; i < cases.size(); ++i) {
        CaseResult& result = results[i];
        result.started = true;
        result.ranks.clear();
        for (Outcome& of_rank : outcomes[i]) result.ranks.push_back(result_of(std::move(of_rank)));
        result.failure = what_happened(result, process, limit);
        const bool complete =
            std::all_of(result.ranks.begin(), result.ranks.end(), [](const auto& r) { return r.finished; });
        result.stopped = !complete && (process.timed_out || is_ended_by_watch(process));
        if (!complete || (ranks > 1 && !result.failure.empty())) return i + 1;
    }
    return cases.size();
}

CaseResult not_started()
{
    return {"not started, because of what went wrong in earlier cases", false, false, {}};
}

/// Adds what the cases have cost to the file that the environment names, if it names one.
void note_costs(const std::vector<CaseResult>& results)
{
    const char* file = std::getenv(costs_variable);
    if (file == nullptr) return;
    std::ofstream out(file, std::ios::app);
    for (const CaseResult& result : results) {
        double bytes = 0.0;
        double seconds = 0.0;
        for (const RankResult& rank : result.ranks) {
            if (!rank.measured.is_object()) continue;
            bytes += rank.measured.value("bytes", 0.0);
            seconds = std::max(seconds, rank.measured.value("virtual_seconds", 0.0));
        }
        out << fmt::format("{} {}\n", bytes, seconds);
    }
}

bool is_open(const CaseResult& result)
{
    return std::any_of(result.ranks.begin(), result.ranks.end(),
                       [](const RankResult& rank) { return rank.not_implemented; });
}

}  // namespace

CaseInput one_rank(std::string operation, json inputs)
{
    CaseInput one;
    one.operation = std::move(operation);
    one.ranks.push_back(std::move(inputs));
    return one;
}

std::vector<CaseResult> run_cases(const std::string& file, const std::vector<CaseInput>& cases, double limit)
{
    const Driver driver = driver_of(file);
    std::vector<CaseResult> results(cases.size(), not_started());
    // One launch for each number of ranks that occurs.
    std::map<std::size_t, std::vector<std::size_t>> by_ranks;
    int failures = 0;
    bool give_up = false;
    for (std::size_t i = 0; i < cases.size(); ++i) by_ranks[cases[i].ranks.size()].push_back(i);
    for (const auto& [ranks, indices] : by_ranks) {
        std::vector<CaseInput> group;
        for (const std::size_t i : indices) group.push_back(cases[i]);
        json descriptions = json::array();
        for (const CaseInput& one : group) descriptions.push_back(describe(one));
        std::vector<CaseResult> group_results(group.size(), not_started());
        for (std::size_t next = 0; next < group.size() && !give_up;) {
            next = launch(driver, group, descriptions, next, limit, group_results);
            const CaseResult& last = group_results[next - 1];
            if (!last.failure.empty()) ++failures;
            give_up = last.stopped || failures == failures_allowed || (ranks > 1 && is_open(last));
        }
        for (std::size_t i = 0; i < indices.size(); ++i) results[indices[i]] = std::move(group_results[i]);
        if (give_up) break;
    }
    note_costs(results);
    return results;
}

}  // namespace grade

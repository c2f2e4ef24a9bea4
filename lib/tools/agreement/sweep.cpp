#include "lib/tools/agreement/sweep.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/train/file.hpp"
#include "lib/tools/train/run.hpp"

namespace shardlings::agreement {

namespace {

using nlohmann::json;

constexpr std::size_t cases_in_a_job = 12;
constexpr std::uint64_t largest_verdict = 1 << 20;  // bytes

std::string result_file(const std::string& folder, std::size_t number)
{
    return fmt::format("{}/{:04}.json", folder, number);
}

/// The next cases of the same number of ranks, at most cases_in_a_job.
std::size_t end_of_job(const std::vector<LayoutCase>& cases, std::size_t begin)
{
    std::size_t end = begin;
    while (end < cases.size() && end - begin < cases_in_a_job && cases[end].ranks == cases[begin].ranks)
        ++end;
    return end;
}

/// What a job said, without the lines that only MPI's launcher adds.
std::string shortened(const std::string& output)
{
    constexpr std::size_t shown = 2000;
    return output.size() <= shown ? output : output.substr(0, shown) + "…";
}

/// The verdicts of a job's cases. The one in which the job ended too early has failed; those behind it are
/// left for another job.
std::vector<json> run_job(std::span<const LayoutCase> cases, const SweepOptions& options)
{
    const TemporaryFolder folder;
    const std::string file = folder.path() + "/cases";
    const std::string results = folder.path() + "/results";
    std::filesystem::create_directory(results);
    std::string lines;
    for (const LayoutCase& one : cases) lines += options.common + " " + one.flags + "\n";
    write_text(file, lines);
    Command self = options.self;
    self.insert(self.end(), {file, results});
    const ProcessResult process =
        run_captured(mpirun_command(cases.front().ranks, self), mpirun_environment(), options.limit, results);
    std::vector<json> verdicts;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string result = result_file(results, i);
        if (std::filesystem::exists(result)) {
            verdicts.push_back(json::parse(read_text(result, largest_verdict)));
            verdicts.back()["flags"] = cases[i].flags;
            continue;
        }
        const std::string reason = process.timed_out
                                       ? fmt::format("no verdict within {:.0f} s", options.limit)
                                       : shortened(process.output);
        verdicts.push_back(
            {{"ranks", cases[i].ranks}, {"flags", cases[i].flags}, {"kept", false}, {"failed", reason}});
        break;
    }
    return verdicts;
}

/// JSON has no NaN: it is null there.
double value_or_nan(const json& value)
{
    return value.is_null() ? std::nan("") : value.get<double>();
}

void print_row(const json& verdict, std::size_t number, std::size_t of, double left)
{
    const bool kept = verdict.at("kept").get<bool>();
    fmt::print("{:>4}/{}  {}  {:<100}", number, of, kept ? "kept  " : "BROKEN",
               verdict.at("flags").get<std::string>());
    if (verdict.contains("failed")) {
        fmt::print("\n{}\n", verdict.at("failed").get<std::string>());
        return;
    }
    const json& last = verdict.at("steps").back();
    const double time_off = off_by_percent(verdict.at("predicted_seconds").get<double>(),
                                           verdict.at("step_seconds").get<double>());
    fmt::print("  loss {:.1e}  gradient {:.1e}  time {:+.1f} %  {}  {:.0f} s left\n",
               value_or_nan(last.at("loss_error")), value_or_nan(last.at("gradient_error")), time_off,
               last.at("bitwise").is_null()     ? "no bits promised"
               : last.at("bitwise").get<bool>() ? "bitwise"
                                                : "NOT BITWISE",
               left);
    if (kept) return;
    for (const json& what : verdict.at("ledger")) fmt::print("{}", what.get<std::string>());
    for (const json& step : verdict.at("steps"))
        for (const json& what : step.at("broken"))
            fmt::print("            step {}: {}\n", step.at("step").get<int>(), what.get<std::string>());
}

}  // namespace

json run_sweep(const std::vector<LayoutCase>& cases, const SweepOptions& options)
{
    json verdicts = json::array();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t next = 0; next < cases.size();) {
        const std::span job = std::span(cases).subspan(next, end_of_job(cases, next) - next);
        for (json& verdict : run_job(job, options)) {
            const double seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const auto done = static_cast<double>(++next);
            print_row(verdict, next, cases.size(),
                      seconds / done * (static_cast<double>(cases.size()) - done));
            verdicts.push_back(std::move(verdict));
        }
        std::fflush(stdout);
    }
    return verdicts;
}

void run_cases(MpiSession& session, const std::string& file, const std::string& folder,
               const ParseFlags& parse)
{
    std::ifstream lines(file);
    check(lines.is_open(), "cannot read the cases in '{}'", file);
    std::optional<Text> text;
    std::optional<Verifier> verifier;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        const TrainOptions options = parse(line);
        if (!text) verifier.emplace(session, text.emplace(text_of(options)));
        const Verdict verdict = verifier->verify(options);
        if (session.rank() == 0)
            write_text(result_file(folder, number),
                       to_json({options.layout.world_size(), line}, verdict).dump());
    }
}

}  // namespace shardlings::agreement

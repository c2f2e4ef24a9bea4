#include "lib/tools/verify/collective.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/verify/judge.hpp"
#include "lib/tools/verify/report.hpp"

namespace shardlings {

namespace {

using namespace verify;

constexpr int most_ranks = 64;
constexpr double run_seconds = 600.0;  // cases have a limit of their own; this is for what is around them

struct Options {
    int ranks = 8;
    double case_seconds = 5.0;
};

/// All cases of p = `ranks`, on groups that are made when the first of their cases comes.
void check_cases(Runner& runner, int ranks, std::vector<Verdict>& verdicts)
{
    std::map<Members, std::unique_ptr<Group>> groups;
    for (const Case& one : cases_for(runner.kind(), ranks)) {
        std::unique_ptr<Group>& group = groups[one.members];
        if (group == nullptr) group = std::make_unique<Group>(one, runner.rank(), runner.size());
        const std::vector<RankResult> results = runner.run(one, *group);
        if (runner.rank() == 0) verdicts.push_back({one, judge(runner.kind(), one, results)});
    }
}

/// One table's cases, on p = 1, 2, … ranks.
std::vector<Cost> measure(Runner& runner, std::int64_t length, std::vector<Verdict>& verdicts)
{
    std::vector<Cost> costs;
    for (int ranks = 1; ranks <= runner.size(); ++ranks) {
        const Case one{ranks, length, DType::fp32};
        Group group(one, runner.rank(), runner.size());
        const std::vector<RankResult> results = runner.run(one, group);
        if (runner.rank() != 0) continue;
        verdicts.push_back({one, judge(runner.kind(), one, results)});
        costs.push_back(cost_of(one, results));
    }
    return costs;
}

int check_on_ranks(MpiSession& session, Collective kind, const Function& function, const Options& options)
{
    Runner runner(kind, function, session.rank(), session.size(), options.case_seconds);
    std::vector<Verdict> verdicts;
    for (int ranks = 1; ranks <= session.size(); ++ranks) check_cases(runner, ranks, verdicts);
    std::string tables;
    for (const std::int64_t length : {short_length, long_length})
        tables +=
            cost_table(kind, length, DType::fp32, Topology{}.intra, measure(runner, length, verdicts)) + "\n";
    const bool right =
        runner.agree(std::ranges::all_of(verdicts, [](const Verdict& v) { return v.wrong.empty(); }));
    if (session.rank() != 0) return right ? 0 : 1;
    if (right) fmt::print("{}{}\n", tables, cost_legend(kind));
    fmt::print("{}", verdict_text(kind, verdicts, session.size()));
    std::fflush(stdout);
    return right ? 0 : 1;
}

/// What ended the ranks when they could not say it themselves.
std::string last_words(const std::string& run_folder)
{
    const auto text_of = [&](const char* name) {
        std::ifstream file(run_folder + "/" + name);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    if (const std::string error = text_of("error"); !error.empty()) return error;
    const std::string last_case = text_of("case");
    return last_case.empty() ? "" : fmt::format("WRONG: {} ended the program\n", last_case);
}

int start_on_ranks(int argc, char** argv, const Options& options)
{
    Command program(argv, argv + argc);
    program.front() = std::filesystem::canonical("/proc/self/exe").string();
    const TemporaryFolder run_folder;
    Environment environment = mpirun_environment();
    environment.emplace_back("SHARDLINGS_RUN_DIR", run_folder.path());
    const ProcessResult result =
        run_captured(mpirun_command(options.ranks, program), environment, run_seconds);
    fmt::print("{}", result.output);
    if (!result.timed_out && result.signal == 0 && result.exit_code == 0) return 0;
    if (result.timed_out)
        fmt::print("WRONG: it did not end in {} s\n", run_seconds);
    else if (result.output.find("WRONG: ") == std::string::npos)
        fmt::print("{}", last_words(run_folder.path()));
    return 1;
}

int run(int argc, char** argv, Collective kind, const Function& function)
{
    Options options;
    CLI::App app("checks a collective of your own: " + std::string(name_of(kind)));
    app.add_option("--ranks", options.ranks, "check on 1, 2, ... so many ranks")
        ->check(CLI::Range(1, most_ranks));
    app.add_option("--case-seconds", options.case_seconds, "a case that takes longer hangs")
        ->check(CLI::Range(0.1, run_seconds));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    }
    if (!started_by_launcher()) return start_on_ranks(argc, argv, options);
    return run_rank(argc, argv,
                    [&](MpiSession& session) { return check_on_ranks(session, kind, function, options); });
}

}  // namespace

int verify_collective(int argc, char** argv, Collective kind,
                      const std::function<void(Comm&, Buffer)>& function)
{
    return run(argc, argv, kind, [&](Comm& comm, Buffer values, int) { function(comm, values); });
}

int verify_collective(int argc, char** argv, Collective kind,
                      const std::function<void(Comm&, Buffer, int)>& function)
{
    return run(argc, argv, kind, function);
}

}  // namespace shardlings

#include "lib/tools/marks/grade_all.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/marks/csv.hpp"
#include "lib/tools/marks/html.hpp"
#include "lib/tools/marks/kept_grade.hpp"
#include "lib/tools/marks/submissions.hpp"
#include "lib/tools/marks/text.hpp"

namespace shardlings {

namespace fs = std::filesystem;
using nlohmann::json;
using Seconds = std::chrono::duration<double>;

namespace {

std::string seed_in(const fs::path& file)
{
    try {
        return json::parse(read_file(file)).at("seed").get<std::string>();
    } catch (const json::exception&) {
        throw Error(
            fmt::format("{} is damaged: give the class's seed with --seed (every file in grades/ "
                        "has it), or remove the folder to grade all anew",
                        file.string()));
    }
}

/// The seed of the class, kept in the folder, so that a run that is taken up has the same.
std::string seed_of_class(const ClassRequest& request)
{
    const fs::path file = request.out / "class.json";
    if (request.seed.empty() && fs::exists(file)) return seed_in(file);
    const std::string seed = request.seed.empty() ? std::to_string(std::random_device{}()) : request.seed;
    write_file(file, json({{"seed", seed}}).dump() + "\n");
    return seed;
}

std::string minutes(double seconds)
{
    if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
    return fmt::format("{:.0f} min", std::ceil(seconds / 60.0));
}

/// A full disk would look like code that does not compile.
void check_space(const ClassRequest& request)
{
    std::vector<fs::path> folders = request.writes_to;
    folders.push_back(request.out);
    const std::uintmax_t needed = request.free_bytes * static_cast<std::uintmax_t>(request.jobs);
    for (const fs::path& folder : folders) {
        std::error_code problem;
        const fs::space_info space = fs::space(folder, problem);
        check(problem || space.available >= needed,
              "{} MiB are free in {}, {} are needed with --jobs {}: make space, and start the same again",
              space.available >> 20, folder.string(), needed >> 20, request.jobs);
    }
}

/// One run over the class.
class ClassRun {
  public:
    ClassRun(const Manifest& manifest, const ClassRequest& request, const GradeOne& grade_one,
             const std::string& tests, std::string seed)
        : manifest_(manifest),
          request_(request),
          grade_one_(grade_one),
          tests_(tests),
          seed_(std::move(seed)),
          submissions_(find_submissions(request.folder)),
          marked_(submissions_.found.size())
    {
        for (const std::string& name : submissions_.left_out)
            fmt::print("{}: neither a folder nor an archive, left out\n", plain_line(name));
    }

    std::vector<Marked> run()
    {
        find_open();
        fmt::print("{} submissions, {} to be graded, test seed {}\n", marked_.size(), open_.size(), seed_);
        std::fflush(stdout);
        std::vector<std::jthread> workers;
        for (int i = 0; i < request_.jobs; ++i) workers.emplace_back([this] { work(); });
        workers.clear();
        if (problem_) std::rethrow_exception(problem_);
        return std::move(marked_);
    }

    /// How many could not be graded for a reason that lies with this machine.
    int again() const { return again_; }

  private:
    std::string name(std::size_t i) const { return submissions_.found[i].filename().string(); }
    fs::path file(std::size_t i) const
    {
        return request_.out / "grades" / (file_name_for(name(i)) + ".json");
    }
    std::string key(std::size_t i) const
    {
        return hash_of_submission(manifest_, submissions_.found[i]) + "-" + tests_ + "-" + seed_;
    }

    void find_open()
    {
        for (std::size_t i = 0; i < marked_.size(); ++i) {
            std::optional<Marked> kept = kept_grade(file(i), key(i), manifest_);
            if (kept) {
                marked_[i] = std::move(*kept);
                continue;
            }
            marked_[i] = {name(i), no_grade(manifest_, seed_), "not graded yet", 0.0};
            if (static_cast<int>(i % static_cast<std::size_t>(request_.slices)) == request_.slice - 1)
                open_.push_back(i);
        }
    }

    /// Takes submissions until none is left, or until a result could not be written.
    void work()
    {
        for (;;) {
            std::size_t i = 0;
            {
                const std::lock_guard lock(mutex_);
                if (problem_ || next_ == open_.size()) return;
                i = open_[next_++];
            }
            try {
                check_space(request_);
                grade(i);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                problem_ = std::current_exception();
            }
        }
    }

    void grade(std::size_t i)
    {
        const TemporaryFolder folder;
        const fs::path result = fs::path(folder.path()) / "grade.json";
        const std::string key_before = key(i);
        const auto begin = std::chrono::steady_clock::now();
        Marked marked{name(i), no_grade(manifest_, seed_), "", 0.0};
        GradingProblem problem;
        try {
            problem = grade_one_(submissions_.found[i], seed_, result);
            if (problem.text.empty() || fs::exists(result))
                marked.grade = grade_of_json(read_file(result), manifest_);
        } catch (const std::exception& error) {
            problem = {error.what(), true};
        }
        marked.error = problem.text;
        marked.seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
        if (!problem.of_machine) keep_grade(file(i), key_before, marked);
        const std::lock_guard lock(mutex_);
        again_ += problem.of_machine ? 1 : 0;
        marked_[i] = std::move(marked);
        tell(i);
    }

    void tell(std::size_t i)
    {
        const Marked& marked = marked_[i];
        ++graded_;
        seconds_ += marked.seconds;
        const std::size_t left = open_.size() - graded_;
        const double about =
            seconds_ / static_cast<double>(graded_) * static_cast<double>(left) / request_.jobs;
        fmt::print("{}/{}  {}  {}  {:.0f} s{}\n", graded_, open_.size(), plain_line(marked.name),
                   marked.error.empty()
                       ? fmt::format("{:.4g} of {:.4g}", marked.grade.score(), marked.grade.max())
                       : plain_line(marked.error, 120),
                   marked.seconds, left > 0 ? fmt::format("  (about {} left)", minutes(about)) : "");
        std::fflush(stdout);
    }

    const Manifest& manifest_;
    const ClassRequest& request_;
    const GradeOne& grade_one_;
    const std::string tests_;
    const std::string seed_;
    const Submissions submissions_;
    std::vector<Marked> marked_;
    std::vector<std::size_t> open_;  // indices of what is to be graded
    std::mutex mutex_;
    std::size_t next_ = 0;
    std::size_t graded_ = 0;
    int again_ = 0;
    double seconds_ = 0.0;
    std::exception_ptr problem_;
};

/// How late each submission is, by its name; empty when nobody's time is told. It is read before anything is
/// graded: a line that is missing should not be found out hours later.
std::map<std::string, Lateness> lateness_of_all(const ClassRequest& request)
{
    std::map<std::string, Lateness> all;
    if (request.times.empty()) return all;
    check(request.late.due.has_value(),
          "--times is given, but no time when the work is due: --due TIME, or "
          "\"due\" in tests/points.json");
    const auto times = read_times(request.times);
    for (const fs::path& submission : find_submissions(request.folder).found) {
        const std::string name = submission.filename().string();
        const auto found = times.find(name);
        check(found != times.end(), "{} has no line for {}", request.times.string(), plain_line(name));
        all[name] = lateness(request.late, found->second, *request.late.due);
    }
    return all;
}

void write_reports(const ClassRequest& request, const std::vector<Marked>& all)
{
    std::vector<std::string> pages;
    for (const Marked& marked : all) {
        pages.push_back("students/" + file_name_for(marked.name) + ".html");
        write_file(request.out / pages.back(), student_html(marked, "../class.html"));
    }
    write_file(request.out / "class.csv", class_csv(all));
    write_file(request.out / "class.html", class_html(request.folder.filename().string(), all, pages));
}

}  // namespace

std::vector<Marked> grade_class(const Places& places, const Manifest& manifest, const ClassRequest& request,
                                const GradeOne& grade_one)
{
    check(request.jobs >= 1, "--jobs is {}: expected 1 or more", request.jobs);
    check(request.slices >= 1 && request.slice >= 1 && request.slice <= request.slices,
          "--slice {}/{}: expected K/N with 1 <= K <= N", request.slice, request.slices);
    const std::map<std::string, Lateness> late = lateness_of_all(request);
    ClassRun run(manifest, request, grade_one, hash_of_tests(places, manifest), seed_of_class(request));
    std::vector<Marked> all = run.run();
    for (Marked& marked : all) {
        const auto found = late.find(marked.name);
        if (found == late.end()) continue;
        marked.grade.days_late = found->second.days;
        marked.grade.percent_off = found->second.percent_off;
    }
    if (request.slices == 1) write_reports(request, all);
    check(run.again() == 0,
          "{} could not be graded for a reason that lies with this machine: start the same again",
          run.again());
    if (request.slices > 1) return all;
    fmt::print("{}, {} and {}\n", (request.out / "class.html").string(), (request.out / "class.csv").string(),
               (request.out / "students").string());
    return all;
}

}  // namespace shardlings

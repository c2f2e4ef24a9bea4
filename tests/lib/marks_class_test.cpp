// A class of submissions: each graded once, whatever happens in between.
#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/marks/grade_all.hpp"
#include "lib/tools/marks/submissions.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"
#include "tests/lib/marks.hpp"

#include <atomic>
#include <set>

using namespace shardlings;
using namespace small;
namespace fs = std::filesystem;

namespace {

/// A class of four on a small course; grading one gives the points that its file begins with.
struct SmallClass {
    ::TemporaryFolder root;
    Manifest manifest = small_manifest();
    Places places{root.path(), root / "build"};
    ClassRequest request;
    std::atomic<int> graded = 0;
    bool cyd_meets_full_disk = false;

    SmallClass()
    {
        for (const Lesson& lesson : manifest.lessons) write_file(places.judge(lesson), "judge");
        for (const char* name : {"ann", "bob", "cyd", "dan"})
            write_file(root.path() / "class" / name / "03_a" / "x.cpp", name);
        write_file(root.path() / "class" / "notes.txt", "");
        request.folder = root / "class";
        request.out = root / "out";
        request.seed = "3";
    }

    std::vector<Marked> run()
    {
        return grade_class(places, manifest, request,
                           [this](const fs::path& submission, const std::string& seed, const fs::path& file) {
                               ++graded;
                               if (submission.filename() == "cyd")
                                   return GradingProblem{"no exercise in it", cyd_meets_full_disk};
                               Marked marked = mixed();
                               marked.grade.seed = seed;
                               if (submission.filename() == "dan") marked.grade.parts[0].submitted = false;
                               write_file(file, grade_json(marked.grade));
                               return GradingProblem{};
                           });
    }
};

std::string all_reports(const fs::path& out)
{
    std::string text = read_file(out / "class.csv") + read_file(out / "class.html");
    std::set<fs::path> pages;
    for (const fs::directory_entry& entry : fs::directory_iterator(out / "students"))
        pages.insert(entry.path());
    for (const fs::path& page : pages) text += read_file(page);
    return text;
}

}  // namespace

TEST_CASE("a class: one bad submission stops nobody, and what is graded is not graded again")
{
    SmallClass one;
    const std::vector<Marked> all = one.run();
    CHECK(one.graded == 4);
    REQUIRE(all.size() == 4);
    CHECK(all[0].grade.score() == 15.0);
    CHECK(all[2].error == "no exercise in it");
    CHECK(all[2].grade.score() == 0.0);
    CHECK(all[3].grade.score() == 5.0);
    const std::string reports = all_reports(one.request.out);
    CHECK(contains(reports, "no exercise in it"));

    one.request.seed.clear();  // the one before is used
    one.run();
    CHECK(one.graded == 4);
    CHECK(all_reports(one.request.out) == reports);

    write_file(one.root.path() / "class" / "ann" / "03_a" / "x.cpp", "changed");
    write_file(one.request.out / "grades" / "bob.json", "{\"key\": ");
    one.run();
    CHECK(one.graded == 6);
    write_file(one.places.judge(one.manifest.lessons[0]), "other tests");
    one.run();
    CHECK(one.graded == 10);
}

TEST_CASE("a class: the same reports with any number of jobs, and in slices")
{
    SmallClass one, many, sliced;
    one.request.jobs = 1;
    many.request.jobs = 4;
    one.run();
    many.run();
    CHECK(all_reports(one.request.out) == all_reports(many.request.out));
    sliced.request.slices = 3;
    for (const int slice : {3, 1, 2}) {
        sliced.request.slice = slice;
        sliced.run();
        CHECK_FALSE(fs::exists(sliced.request.out / "class.csv"));
    }
    CHECK(sliced.graded == 4);
    sliced.request.slices = sliced.request.slice = 1;
    sliced.run();
    CHECK(sliced.graded == 4);
    CHECK(all_reports(sliced.request.out) == all_reports(one.request.out));
}

TEST_CASE("a class: late days of a file of times")
{
    SmallClass late;
    late.request.times = late.root / "times.csv";
    write_file(late.request.times, "ann,2026-12-01T00:00Z\nbob,2026-12-03T00:00Z\ncyd,2026-12-01T00:00Z\n");
    CHECK(contains(error_of([&] { late.run(); }), "no time when the work is due"));
    late.request.late.due = parse_time("2026-12-02T00:00Z");
    late.request.late.percent_per_day = 10.0;
    CHECK(contains(error_of([&] { late.run(); }), "has no line for dan"));
    CHECK(late.graded == 0);  // found out before, not after
    write_file(late.request.times,
               "\xef\xbb\xbf" + read_file(late.request.times) + "dan,2026-12-02T00:00Z\n");
    const std::vector<Marked> all = late.run();
    CHECK(late.graded == 4);
    CHECK(all[0].grade.score() == 15.0);
    CHECK(all[1].grade.score() == 13.5);
    write_file(late.request.times, "ann,today\n");
    CHECK(contains(error_of([&] { late.run(); }), "times.csv:1: 'today' is no time"));
}

TEST_CASE("a class: what cannot be written or read is an error, and nothing graded is lost")
{
    SmallClass one;
    write_file(one.root / "file", "");
    one.request.out = one.root / "file/out";
    CHECK(contains(error_of([&] { one.run(); }), "cannot write"));
    CHECK(one.graded == 0);

    one.request.out = one.root / "out";
    one.run();
    write_file(one.request.out / "class.json", "{");
    one.request.seed.clear();
    CHECK(contains(error_of([&] { one.run(); }), "is damaged: give the class's seed"));
    one.request.seed = "3";
    one.run();
    CHECK(one.graded == 4);

    // A folder in the place of a grade's file: it cannot be written.
    SmallClass other;
    fs::create_directories(other.request.out / "grades" / "bob.json" / "x");
    CHECK(contains(error_of([&] { other.run(); }), "cannot write"));
    CHECK(contains(error_of([&] { find_submissions(other.root / "none"); }), "is no folder"));
    fs::create_directories(other.root / "empty");
    CHECK(contains(error_of([&] { find_submissions(other.root / "empty"); }), "holds no submission"));
}

TEST_CASE("a class: what the machine is to blame for is told, and tried again; what a submission is, is kept")
{
    SmallClass one;
    one.cyd_meets_full_disk = true;
    CHECK(contains(error_of([&] { one.run(); }), "1 could not be graded for a reason that lies with"));
    CHECK(contains(all_reports(one.request.out), "no exercise in it"));
    one.cyd_meets_full_disk = false;
    one.run();
    CHECK(one.graded == 5);
    one.run();
    CHECK(one.graded == 5);
}

TEST_CASE("a class: nothing is graded when there is no space to build it in")
{
    SmallClass one;
    one.request.free_bytes = std::uintmax_t{1} << 60;
    CHECK(contains(error_of([&] { one.run(); }), "are needed with --jobs 2: make space"));
    CHECK(one.graded == 0);
    one.request.free_bytes = 1;
    one.run();
    CHECK(one.graded == 4);
}

TEST_CASE("a class: names with spaces, quotes, umlauts, dashes, line breaks, 200 letters, in either case")
{
    SmallClass one;
    const std::vector<std::string> names{"a b",
                                         "a'b\"c",
                                         "\xc3\xa4\xc3\xb6",
                                         "-rf",
                                         "a\nb",
                                         "Ann",
                                         "a\\b",
                                         "a,b;c",
                                         "\xff\xfe",
                                         "$(reboot)",
                                         "100 % <b>",
                                         "~",
                                         std::string(200, 'x')};
    for (const std::string& name : names)
        write_file(one.request.folder / name / "03_a" / "x.cpp", "text of " + name);
    const std::vector<Marked> all = one.run();
    CHECK(all.size() == 4 + names.size());
    CHECK(one.graded == 4 + static_cast<int>(names.size()));
    std::set<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(one.request.out / "grades"))
        files.insert(entry.path().filename().string());
    CHECK(files.size() == all.size());
    one.run();
    CHECK(one.graded == 4 + static_cast<int>(names.size()));
    CHECK(lines_of(read_file(one.request.out / "class.csv")).size() == all.size() + 1);
}

// Schedules as text, as drawings of characters, and beside their formulas.
#include <cmath>

#include "lib/tools/schedule/drawing.hpp"
#include "lib/tools/schedule/formulas.hpp"
#include "lib/tools/schedule/named.hpp"
#include "lib/tools/schedule/program_text.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

using namespace shardlings;
using pipeline::PassCosts;
using pipeline::Schedule;

namespace {

struct NamedCase {
    std::string name;
    Schedule schedule;
};

/// All schedules of 1 to 6 stages, 1 to 8 micro-batches and 1 to 3 chunks that exist.
std::vector<NamedCase> named_cases()
{
    std::vector<NamedCase> cases;
    for (int stages = 1; stages <= 6; ++stages)
        for (int micro_batches = 1; micro_batches <= 8; ++micro_batches) {
            for (const char* name : {"naive", "gpipe", "1f1b"})
                cases.push_back({name, make_schedule(name, stages, micro_batches, 1)});
            for (int chunks = 1; chunks <= 3; ++chunks)
                if (chunks == 1 || (stages > 1 && micro_batches % stages == 0))
                    cases.push_back(
                        {"interleaved", make_schedule("interleaved", stages, micro_batches, chunks)});
        }
    return cases;
}

/// The drawing without its first two lines, the key and a blank one.
std::string rows_of(const Schedule& schedule, const PassCosts& costs = {})
{
    const std::string drawing = draw_schedule(schedule, simulate(schedule, costs), costs);
    return "\n" + drawing.substr(drawing.find("\n\n") + 2);
}

std::string key_of(const Schedule& schedule, const PassCosts& costs = {})
{
    const std::string drawing = draw_schedule(schedule, simulate(schedule, costs), costs);
    return drawing.substr(0, drawing.find('\n'));
}

}  // namespace

TEST_CASE("small schedules are drawn as they are drawn by hand", "[schedule]")
{
    CHECK(rows_of(make_schedule("naive", 2, 2, 1)) == R"(
stage 0  0 . . . 0'0'1 . . . 1'1'
stage 1  . 0 0'0'. . . 1 1'1'. .
)");
    CHECK(rows_of(make_schedule("gpipe", 2, 3, 1)) == R"(
stage 0  0 1 2 . . . 0'0'1'1'2'2'
stage 1  . 0 1 2 0'0'1'1'2'2'. .
)");
    CHECK(rows_of(make_schedule("1f1b", 3, 4, 1)) == R"(
stage 0  0 1 2 . . . . 0'0'3 1'1'. 2'2'. 3'3'
stage 1  . 0 1 . . 0'0'2 1'1'3 2'2'. 3'3'. .
stage 2  . . 0 0'0'1 1'1'2 2'2'3 3'3'. . . .
)");
    CHECK(rows_of(make_schedule("interleaved", 2, 2, 2)) == R"(
stage 0  0a1a0b1b. . 0B0B. 1B1B0A0A1A1A
stage 1  . 0a1a0b0B0B1b1B1B0A0A1A1A. .
)");
    CHECK(rows_of(make_schedule("gpipe", 1, 1, 1)) == "\nstage 0  0 0'0'\n");
    CHECK(key_of(make_schedule("1f1b", 3, 4, 1)) ==
          "0 is micro-batch 0 forward, 0' backward; a dot is idle time; a column is 1 s");
    CHECK(contains(key_of(make_schedule("interleaved", 2, 2, 2)),
                   "0a is micro-batch 0 forward through chunk 0"));
}

TEST_CASE("a column is the longest time that all costs are multiples of", "[schedule]")
{
    CHECK(rows_of(make_schedule("1f1b", 2, 2, 1), {0.3, 0.3, 0.0}) == R"(
stage 0  0 1 . 0'. 1'
stage 1  . 0 0'1 1'.
)");
    const PassCosts costs{0.002, 0.003, 0.001};
    CHECK(rows_of(make_schedule("gpipe", 2, 1, 1), costs) == R"(
stage 0  0 0 . . . . . . . 0'0'0'
stage 1  . . . 0 0 0'0'0'. . . .
)");
    CHECK(contains(key_of(make_schedule("gpipe", 2, 1, 1), costs), "a column is 1 ms"));
    // A message of a hundredth would need columns of a hundredth: a quarter of the shortest pass is fine
    // enough.
    CHECK(contains(key_of(make_schedule("gpipe", 2, 1, 1), {1.0, 2.0, 0.01}), "a column is 250 ms"));
}

TEST_CASE("numbers of two digits get wider columns, long schedules narrower ones", "[schedule]")
{
    CHECK(contains(rows_of(make_schedule("gpipe", 2, 11, 1)),
                   "\nstage 1  .  0  1  2  3  4  5  6  7  8  9  10 0' 0' 1'"));
    const Schedule interleaved = make_schedule("interleaved", 4, 8, 2);
    CHECK(contains(rows_of(interleaved), "\nstage 3  . . . 0a1a2a3a0b0B0B1b1B1B2b2B2B"));

    const Schedule longer = make_schedule("1f1b", 2, 24, 1);
    const std::string rows = rows_of(longer);
    CHECK(key_of(longer) ==
          "a digit is the last one of a micro-batch's number; a dot is idle time; a column is 1 s");
    CHECK(contains(rows, "\nstage 0  forward     01..  2  3  4  5  6  7  8  9  0  1  2"));
    CHECK(contains(rows, "\n         backward      ..00 11 22 33 44 55 66 77 88 99 00 11"));
    CHECK(contains(rows, " 22 33..\n"));
}

TEST_CASE("no drawing is wider than a terminal", "[schedule]")
{
    for (const PassCosts& costs : {PassCosts{}, PassCosts{1.0, 2.0, 0.3}, PassCosts{1e-3, 7e-5, 2.0}})
        for (const int micro_batches : {8, 16, 160, 2000}) {
            const Schedule schedule = make_schedule("interleaved", 8, micro_batches, 2);
            const std::string drawing = draw_schedule(schedule, simulate(schedule, costs), costs);
            std::size_t longest = 0;
            for (std::size_t begin = 0, end = 0; (end = drawing.find('\n', begin)) != std::string::npos;
                 begin = end + 1)
                longest = std::max(longest, end - begin);
            INFO(micro_batches << " micro-batches");
            CHECK(longest <= 128);
            CHECK(longest >= 80);
        }
    // Where a column is longer than a pass, the drawing says so, and no working stage looks idle.
    const Schedule long_one = make_schedule("1f1b", 2, 100, 1);
    CHECK(contains(key_of(long_one), "not every pass is shown"));
    CHECK(!contains(rows_of(long_one), "......"));
}

TEST_CASE("every schedule is printed and read back", "[schedule]")
{
    for (const NamedCase& named : named_cases()) {
        const std::string text = program_text(named.schedule);
        const Schedule read = parse_program_text(text, "text");
        INFO(text);
        CHECK(read.stages == named.schedule.stages);
        CHECK(read.micro_batches == named.schedule.micro_batches);
        CHECK(read.chunks == named.schedule.chunks);
        CHECK(read.programs == named.schedule.programs);
        check_schedule(read);
    }
}

TEST_CASE("a printed schedule has a line for each pass", "[schedule]")
{
    CHECK(program_text(make_schedule("1f1b", 2, 2, 1)) == R"(stages 2
micro-batches 2
chunks 1

stage 0
forward 0, send activation 0
forward 1, send activation 1
receive gradient 0, backward 0
receive gradient 1, backward 1

stage 1
receive activation 0, forward 0
backward 0, send gradient 0
receive activation 1, forward 1
backward 1, send gradient 1
)");
    CHECK(contains(program_text(make_schedule("interleaved", 2, 2, 2)),
                   "\nreceive gradient 0 of chunk 1, backward 0 of chunk 1, send gradient 0 of chunk 1\n"));
}

TEST_CASE("blanks, comments and order are free", "[schedule]")
{
    const Schedule read = parse_program_text(
        "# mine\r\n\n  micro-batches 1 # one\r\nstages 2\n stage 1\nreceive activation 0\n\tforward 0 "
        ",backward 0,send "
        "gradient 0\r\nstage 0\nforward 0\n\nsend   activation   0"
        "\nreceive gradient 0 of chunk 0, backward 0",
        "text");
    CHECK(read.programs == make_schedule("gpipe", 2, 1, 1).programs);
}

TEST_CASE("text that is no schedule is refused with the line's number", "[schedule]")
{
    const auto refusal = [](const std::string& text) {
        return error_of([&] { parse_program_text(text, "my.txt"); });
    };
    const std::string head = "stages 2\nmicro-batches 1\n";
    CHECK(contains(refusal(head + "stage 0\nforwrd 0\n"), "my.txt, line 4: 'forwrd 0' is no instruction"));
    CHECK(
        contains(refusal(head + "stage 0\nforward 0,, backward 0"), "my.txt, line 4: '' is no instruction"));
    for (const char* wrong :
         {"forward", "forward x", "forward 0 1", "forward 0.5", "forward 99999999999", "send 0",
          "forward 0 of chunk", "forward 0 of chunk b", "receive activation", "forward0"})
        CHECK(contains(refusal(head + "stage 0\n" + wrong),
                       fmt::format("line 4: '{}' is no instruction", wrong)));
    CHECK(contains(refusal("forward 0"), "my.txt, line 1: 'forward 0': expected 'stages N'"));
    CHECK(contains(refusal("micro-batches 1\nstage 0"), "my.txt, line 2: 'stages N' is missing"));
    CHECK(contains(refusal("stages 1\n\nstage 0"), "my.txt, line 3: 'micro-batches N' is missing"));
    CHECK(contains(refusal(head + "stages 3\n"), "my.txt, line 3: 'stages' is here twice"));
    CHECK(contains(refusal(head + "stage 0\nchunks 2"),
                   "my.txt, line 4: 'chunks 2' comes after the first stage"));
    CHECK(contains(refusal(head + "stage 2"), "my.txt, line 3: 'stage 2': there are stages 0 to 1"));
    CHECK(contains(refusal(head + "stage -1"), "my.txt, line 3: 'stage -1': there are stages 0 to 1"));
    CHECK(contains(refusal(head + "stage 1\nstage 1"), "my.txt, line 4: 'stage 1' is here twice"));
    CHECK(contains(refusal(head + "stage 1\n"), "my.txt: there is no 'stage 0'"));
    CHECK(contains(refusal(""), "my.txt: there is no 'stage 0'"));
    CHECK(contains(refusal("stages 0\nmicro-batches 1\nstage 0"), "my.txt, line 3: a schedule of 0 stages"));
    CHECK(contains(refusal("stages 1000\nmicro-batches 2000000000\nstage 0"), "too many to look at"));
    CHECK(contains(refusal("stages 2000\nmicro-batches 1\nstage 0"), "expected up to 1024"));
    CHECK(contains(refusal(std::string("\x7f"
                                       "ELF\0\n\xff",
                                       7)),
                   "my.txt, line 1"));
}

TEST_CASE("a text without one of its instructions is read, but the schedule is refused", "[schedule]")
{
    const std::string text = program_text(make_schedule("1f1b", 3, 2, 1));
    int removed = 0;
    for (const char* word : {"forward 1", "backward 0", "send activation 0", "receive activation 1",
                             "send gradient 1", "receive gradient 0"}) {
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            const bool alone = at == 0 || text[at - 1] == '\n';
            const bool last = text[at + std::string(word).size()] == '\n';
            std::string broken = text;
            if (alone)
                broken.erase(at, std::string(word).size() + (last ? 1 : 2));
            else
                broken.erase(at - 2, std::string(word).size() + 2);
            const Schedule schedule = parse_program_text(broken, "text");
            INFO(broken);
            CHECK(error_of([&] { check_schedule(schedule); }) != "no error");
            ++removed;
        }
    }
    CHECK(removed == 3 + 3 + 2 + 2 + 2 + 2);
}

TEST_CASE("what is measured is what the formulas say", "[schedule]")
{
    for (const NamedCase& named : named_cases()) {
        const Schedule& schedule = named.schedule;
        const std::optional<ScheduleFormulas> formulas = formulas_of(named.name, schedule);
        REQUIRE(formulas.has_value());
        INFO(named.name << ": " << schedule.stages << " stages, " << schedule.micro_batches
                        << " micro-batches, " << schedule.chunks << " chunks: " << formulas->bubble_text);
        for (const PassCosts& costs :
             {PassCosts{1.0, 2.0, 0.0}, PassCosts{1.0, 1.0, 0.0}, PassCosts{3.0, 5.0, 0.0}}) {
            // Times are whole numbers, so only two divisions and a subtraction of numbers up to 1 round, each
            // by 2⁻⁵³ at most.
            const double measured = bubble_fraction(schedule, simulate(schedule, costs));
            CHECK(std::abs(measured - formulas->bubble) <= 3 * 0x1p-53);
        }
        CHECK(most_in_flight(schedule) == formulas->in_flight);
    }
    CHECK(formulas_of("1f1b", make_schedule("1f1b", 4, 8, 1))->bubble_text == "(P - 1)/(M + P - 1) = 3/11");
    CHECK(formulas_of("interleaved", make_schedule("interleaved", 4, 8, 2))->bubble_text ==
          "(P - 1)/(V M + P - 1) = 3/19");
    CHECK(!formulas_of("mine", make_schedule("1f1b", 4, 8, 1)).has_value());
}

#include "lib/tools/schedule/program_text.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "lessons/07_gpipe/check.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

using pipeline::Action;
using pipeline::Instruction;
using pipeline::Program;
using pipeline::Schedule;

constexpr int most_stages = 1024;
constexpr std::int64_t most_passes = 200'000;

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// With one blank between words, and without a comment.
std::string tidied(std::string_view line)
{
    std::string text;
    for (const char c : trimmed(line.substr(0, line.find('#')))) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank || !text.ends_with(' ')) text += blank ? ' ' : c;
    }
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::optional<int> whole_number(std::string_view text)
{
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

/// The number in "`word` number"; nothing when the text is not that.
std::optional<int> number_after(std::string_view word, std::string_view text)
{
    if (!text.starts_with(word) || !text.substr(word.size()).starts_with(' ')) return {};
    return whole_number(trimmed(text.substr(word.size())));
}

std::optional<Instruction> instruction_of(std::string_view text)
{
    constexpr std::string_view of_chunk = " of chunk ";
    int chunk = 0;
    if (const std::size_t of = text.find(of_chunk); of != std::string_view::npos) {
        const std::optional<int> number = whole_number(trimmed(text.substr(of + of_chunk.size())));
        if (!number) return {};
        chunk = *number;
        text = trimmed(text.substr(0, of));
    }
    for (const Action action : {Action::receive_activation, Action::forward, Action::send_activation,
                                Action::receive_gradient, Action::backward, Action::send_gradient}) {
        std::string word = to_string(Instruction{action, 0, 0});
        word.erase(word.rfind(' '));
        if (const std::optional<int> micro_batch = number_after(word, text))
            return Instruction{action, *micro_batch, chunk};
    }
    return {};
}

/// Reads line by line; a complaint names the line.
class Parser {
  public:
    explicit Parser(std::string_view name) : name_(name) {}

    void line(std::string_view line)
    {
        ++number_;
        const std::string text = tidied(line);
        if (text.empty() || take_header(text) || take_stage(text)) return;
        demand(program_ != nullptr, "'{}': expected 'stages N', 'micro-batches N' and 'stage 0' first", text);
        for (const std::string_view part : split(text, ',')) {
            const std::optional<Instruction> instruction = instruction_of(trimmed(part));
            demand(instruction.has_value(),
                   "'{}' is no instruction: expected one like 'forward 3', 'send activation 3', 'receive "
                   "gradient 3' or 'backward 3 of chunk 1'",
                   trimmed(part));
            program_->push_back(*instruction);
        }
    }

    Schedule finish()
    {
        check(program_ != nullptr, "{}: there is no 'stage 0': expected what --program prints", name_);
        for (std::size_t stage = 0; stage < found_.size(); ++stage)
            check(found_[stage], "{}: there is no 'stage {}': expected the programs of {} stages", name_,
                  stage, found_.size());
        return schedule_;
    }

  private:
    template <class... Args>
    void demand(bool condition, fmt::format_string<Args...> message, Args&&... args) const
    {
        if (!condition)
            throw Error(fmt::format("{}, line {}: {}", name_, number_,
                                    fmt::format(message, std::forward<Args>(args)...)));
    }

    bool take_header(std::string_view text)
    {
        for (auto& [word, value] : headers_) {
            const std::optional<int> number = number_after(word, text);
            if (!number) continue;
            demand(program_ == nullptr, "'{}' comes after the first stage", text);
            demand(!value, "'{}' is here twice", word);
            value = number;
            return true;
        }
        return false;
    }

    bool take_stage(std::string_view text)
    {
        const std::optional<int> stage = number_after("stage", text);
        if (!stage) return false;
        if (program_ == nullptr) take_size();
        demand(*stage >= 0 && *stage < schedule_.stages, "'{}': there are stages 0 to {}", text,
               schedule_.stages - 1);
        const auto index = static_cast<std::size_t>(*stage);
        demand(!found_[index], "'{}' is here twice", text);
        found_[index] = true;
        program_ = &schedule_.programs[index];
        return true;
    }

    void take_size()
    {
        for (const auto& [word, value] : headers_)
            demand(value.has_value() || word == "chunks", "'{} N' is missing above the first stage", word);
        const int chunks = headers_[2].value.value_or(1);
        try {
            check_schedule_size(*headers_[0].value, *headers_[1].value, chunks);
        } catch (const Error& error) {
            demand(false, "{}", error.what());
        }
        schedule_ = {*headers_[0].value, *headers_[1].value, chunks, {}};
        schedule_.programs.resize(static_cast<std::size_t>(schedule_.stages));
        found_.resize(schedule_.programs.size(), false);
    }

    struct Header {
        std::string_view word;
        std::optional<int> value;
    };

    std::string_view name_;
    int number_ = 0;
    std::array<Header, 3> headers_{{{"stages", {}}, {"micro-batches", {}}, {"chunks", {}}}};
    Schedule schedule_;
    std::vector<bool> found_;
    Program* program_ = nullptr;  // of the stage being read
};

/// Whether an instruction begins a line: it does not when it follows a receive, or sends.
bool begins_line(const Program& program, std::size_t i)
{
    return i == 0 || !(is_send(program[i].action) || is_receive(program[i - 1].action));
}

}  // namespace

std::string program_text(const Schedule& schedule)
{
    std::string text = fmt::format("stages {}\nmicro-batches {}\nchunks {}\n", schedule.stages,
                                   schedule.micro_batches, schedule.chunks);
    for (std::size_t stage = 0; stage < schedule.programs.size(); ++stage) {
        const Program& program = schedule.programs[stage];
        text += fmt::format("\nstage {}", stage);
        for (std::size_t i = 0; i < program.size(); ++i)
            text += (begins_line(program, i) ? "\n" : ", ") + to_string(program[i]);
        text += "\n";
    }
    return text;
}

Schedule parse_program_text(std::string_view text, std::string_view name)
{
    Parser parser(name);
    for (const std::string_view line : split(text, '\n')) parser.line(line);
    return parser.finish();
}

void check_schedule_size(int stages, int micro_batches, int chunks)
{
    check(stages >= 1 && micro_batches >= 1 && chunks >= 1,
          "a schedule of {} stages, {} micro-batches and {} chunks: expected 1 or more of each", stages,
          micro_batches, chunks);
    check(stages <= most_stages, "a schedule of {} stages: expected up to {}", stages, most_stages);
    check(std::int64_t{stages} * micro_batches <= most_passes / chunks,
          "{} stages x {} micro-batches x {} chunks are too many to look at: expected up to {} in all",
          stages, micro_batches, chunks, most_passes);
}

}  // namespace shardlings

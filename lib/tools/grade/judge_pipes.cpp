#include "lib/tools/grade/judge_pipes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>

#include "lib/machine/base/error.hpp"
#include "lib/tools/grade/judge_timeline.hpp"

namespace grade {

namespace {

constexpr std::uint64_t largest_result = std::uint64_t{64} << 20;  // bytes

int open_pipe(const std::string& path, int how)
{
    const int pipe = open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC);
    shardlings::check(pipe >= 0, "cannot open {}: {}", path, std::strerror(errno));
    return pipe;
}

std::uint64_t random_number()
{
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

/// The cases with the inputs of one rank, and before them their length and the number of its first frame.
std::string inputs_of(const json& cases, std::size_t rank, std::uint64_t first_frame)
{
    json own = json::array();
    for (const json& one : cases) {
        json description = json::object();
        for (const auto& [name, value] : one.items())
            if (name != "ranks") description[name] = value;
        description["inputs"] = one.at("ranks").at(rank);
        own.push_back(std::move(description));
    }
    const std::vector<std::uint8_t> bytes = json::to_cbor(own);
    const std::uint64_t size = bytes.size();
    std::string text(reinterpret_cast<const char*>(&size), sizeof size);
    text.append(reinterpret_cast<const char*>(&first_frame), sizeof first_frame);
    return text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

shardlings::Topology topology_of(const json& description)
{
    shardlings::Topology topology;
    topology.nodes = description.at("nodes").get<int>();
    topology.devices_per_node = description.at("devices_per_node").get<int>();
    topology.intra = {description.at("intra").at(0), description.at("intra").at(1)};
    topology.inter = {description.at("inter").at(0), description.at("inter").at(1)};
    topology.flops = description.at("flops").get<double>();
    return topology;
}

}  // namespace

struct Pipes::Rank {
    int inputs = -1;
    int frames = -1;
    std::string to_give;
    std::size_t given = 0;
    std::string taken;  // the beginning of a frame, the rest of which is to come
    bool broken = false;
    std::uint64_t next_frame = 0;  // its number
    bool misnumbered = false;
    std::optional<std::size_t> index;  // of the case that it is at
    std::size_t next_index = 0;        // at least: no case is begun twice, which would be progress for ever
    std::optional<Ledger> ledger;
    std::optional<TimelineRecorder> timeline;
    std::vector<std::optional<Ledger>> done;  // by case

    ~Rank()
    {
        for (const int pipe : {inputs, frames})
            if (pipe >= 0) close(pipe);
    }
};

Pipes::Pipes(const Sandbox& sandbox, const std::filesystem::path& inside, const json& cases,
             const std::string& folder, Outcomes& outcomes)
    : cases_(cases), folder_(folder), outcomes_(outcomes)
{
    const std::size_t ranks = cases.front().at("ranks").size();
    for (std::size_t i = 0; i < ranks; ++i) {
        auto rank = std::make_unique<Rank>();
        const std::string inputs = inputs_pipe(inside, static_cast<int>(i));
        const std::string frames = frames_pipe(inside, static_cast<int>(i));
        sandbox.make_pipe(inputs);
        sandbox.make_pipe(frames);
        rank->inputs = open_pipe(inputs, O_RDWR);  // not only to write, for which there must be a reader
        rank->frames = open_pipe(frames, O_RDONLY);
#ifdef __linux__
        constexpr int capacity = 1 << 20;
        for (const int pipe : {rank->inputs, rank->frames}) fcntl(pipe, F_SETPIPE_SZ, capacity);
#endif
        rank->next_frame = random_number();
        rank->to_give = inputs_of(cases, i, rank->next_frame);
        rank->done.resize(cases.size());
        ranks_.push_back(std::move(rank));
    }
    thread_ = std::jthread([this](const std::stop_token& stopped) { serve(stopped); });
}

Pipes::~Pipes()
{
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        if (ranks_[rank]->index)
            outcomes_[*ranks_[rank]->index][rank].unfinished = ranks_[rank]->timeline->text();
}

// Frames come by the hundred thousand, a few at a time: whoever took each at once would take a core from the
// ranks.
void Pipes::serve(const std::stop_token& stopped)
{
    constexpr int pause = 2000;  // microseconds: what a pipe holds lasts longer
    for (bool last = false; !last;) {
        last = stopped.stop_requested();
        bool gives = false;
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            gives = give_inputs(*ranks_[i]) || gives;
            while (take_frames(static_cast<int>(i))) last = false;
        }
        if (!gives) usleep(pause);
    }
}

bool Pipes::give_inputs(Rank& rank)
{
    if (rank.given == rank.to_give.size()) return false;
    const ssize_t count =
        write(rank.inputs, rank.to_give.data() + rank.given, rank.to_give.size() - rank.given);
    if (count > 0) rank.given += static_cast<std::size_t>(count);
    return count > 0;
}

bool Pipes::take_frames(int number)
{
    Rank& rank = *ranks_[static_cast<std::size_t>(number)];
    std::array<char, 65536> block{};
    const ssize_t count = rank.broken ? 0 : read(rank.frames, block.data(), block.size());
    if (count <= 0) return false;
    rank.taken.append(block.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    Frame frame;
    while (!rank.broken && rank.taken.size() - begin >= sizeof frame) {
        std::memcpy(&frame, rank.taken.data() + begin, sizeof frame);
        rank.broken = frame.size > largest_result;
        if (rank.broken || rank.taken.size() - begin - sizeof frame < frame.size) break;
        rank.broken =
            !take_frame(number, frame, std::string_view(rank.taken).substr(begin + sizeof frame, frame.size));
        begin += sizeof frame + frame.size;
    }
    rank.taken.erase(0, begin);
    return true;
}

bool Pipes::take_frame(int number, const Frame& frame, std::string_view text)
{
    Rank& rank = *ranks_[static_cast<std::size_t>(number)];
    rank.misnumbered = rank.misnumbered || frame.number != rank.next_frame++;
    if (frame.kind == FrameKind::case_begins) {
        if (frame.index < rank.next_index || frame.index >= cases_.size()) return false;
        begin_case(number, frame.index);
        return true;
    }
    if (frame.kind == FrameKind::result)
        return rank.index == frame.index && take_result(number, frame.index, text);
    if (rank.misnumbered) return true;  // whatever is told counts no more
    if (!rank.ledger || frame.size > 0 || frame.kind > FrameKind::heap_peak) return false;
    rank.ledger->take(frame);
    rank.timeline->take(frame);
    return true;
}

void Pipes::begin_case(int number, std::size_t index)
{
    Rank& rank = *ranks_[static_cast<std::size_t>(number)];
    rank.index = index;
    rank.next_index = index + 1;
    const shardlings::Topology topology = topology_of(cases_[index]);
    rank.ledger.emplace(number, topology);
    rank.timeline.emplace(number, topology, most_timeline_events / ranks_.size() + 1);
    note_progress(folder_);
}

bool Pipes::take_result(int number, std::size_t index, std::string_view cbor)
{
    Rank& rank = *ranks_[static_cast<std::size_t>(number)];
    json result = json::from_cbor(cbor, true, false);
    if (!result.is_object()) return false;
    if (rank.misnumbered) rank.ledger->refuse("its driver did not tell all that was told in its name");
    const json measured = result.value("measured", json::object());
    std::string problem = rank.ledger->contradiction(measured);
    rank.done[index] = std::move(rank.ledger);
    rank.ledger.reset();
    rank.index.reset();
    std::vector<Ledger> all;
    for (const auto& other : ranks_)
        if (other->done[index]) all.push_back(*other->done[index]);
    if (problem.empty() && all.size() == ranks_.size()) problem = unsent_message(all);
    if (!problem.empty()) {
        result["error"] = problem;
        result["not_implemented"] = result["out_of_memory"] = false;
    }
    result["measured"]["heap_peak"] = rank.done[index]->heap_peak();
    result["measured"]["timeline"] = rank.timeline->text();
    outcomes_[index][static_cast<std::size_t>(number)].result = std::move(result);
    note_progress(folder_);
    return true;
}

}  // namespace grade

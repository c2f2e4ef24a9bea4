#include "lib/tools/watch/observer.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace shardlings::watch {

namespace {

// A rank that polls spends less of its own time between two questions than this; one that computes and asks
// now and then, more. A loop of MPI_Test alone takes well under 1 us, one that sleeps in between some 10 us
// for it.
constexpr std::uint64_t longest_between_polls = 20'000;  // nanoseconds
constexpr std::uint64_t fewest_polls = 3;
// A rank that has not run since its wait began has had no chance to end it: the machine is busy, or it is
// stopped.
constexpr std::uint64_t fewest_times = 3;
constexpr std::uint64_t least_running = 2'000'000;  // nanoseconds
constexpr std::size_t most_files = 4096;

/// Copies `bytes` of the file; false unless it is a plain file of a record's size.
bool copy_from(const std::string& path, void* to, std::size_t bytes, ino_t* number)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    struct stat info = {};
    const bool good = fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
                      info.st_size == static_cast<off_t>(sizeof(Record)) &&
                      pread(file, to, bytes, 0) == static_cast<ssize_t>(bytes);
    close(file);
    *number = info.st_ino;
    return good;
}

}  // namespace

Observer::Observer(std::string folder, double period)
    : folder_(std::move(folder)), period_(period), closings_(folder_), ends_(epoll_create1(EPOLL_CLOEXEC))
{
}

Observer::~Observer()
{
    for (const auto& [process, rank] : by_process_) close(process);
    if (ends_ >= 0) close(ends_);
}

void Observer::look()
{
    std::error_code ignored;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
        if (++files > most_files) break;
        const std::string name = entry.path().filename().string();
        const auto dot = name.rfind('.');
        if (dot == std::string::npos) continue;
        const int rank = std::atoi(name.c_str() + dot + 1);
        if (rank >= 0 && rank < static_cast<int>(most_ranks))
            meet(entry.path().string(), name.substr(0, dot), rank);
    }
    take_ends();
    closings_.take();  // after the ends, so that those that came before them are here
    for (auto& [name, job] : jobs_) {
        for (auto& [number, rank] : job) refresh(rank);
        find_first_ended(name, job);
    }
}

/// The one whose record was closed first. Where one has ended and its record has not been closed, which a
/// child of it may keep open: the one that was gone when it was met, or else was seen to end first.
void Observer::find_first_ended(const std::string& name, const Job& job)
{
    std::map<std::size_t, std::vector<int>> by_closing;
    std::map<std::size_t, std::vector<int>> by_end;
    bool all_closed = true;
    for (const auto& [number, rank] : job) {
        const Header& header = rank.record->header;
        if (header.life == Life::finalized || header.life == Life::finalizing) continue;
        const std::size_t place = closings_.place_of(rank.path.substr(rank.path.rfind('/') + 1));
        // Without memory it is about to end, though others may be seen to end before it.
        if (place != Closings::not_closed && (rank.ended || !has_memory(header.pid)))
            by_closing[place].push_back(number);
        if (rank.ended) by_end[rank.ends_before].push_back(number);
        all_closed = all_closed && (!rank.ended || place != Closings::not_closed);
    }
    const auto& order = all_closed ? by_closing : by_end;
    if (!order.empty() && order.begin()->second.size() == 1)
        first_ended_.emplace(name, order.begin()->second.front());
}

void Observer::meet(const std::string& path, const std::string& job, int rank)
{
    struct stat info = {};
    if (lstat(path.c_str(), &info) != 0) return;
    const auto known = jobs_[job].find(rank);
    if (known != jobs_[job].end() && known->second.file == info.st_ino) return;
    Observed met{path, 0, std::make_unique<Record>(), -1, false, Clock::now(), {}, 0, 0};
    Header& header = met.record->header;
    if (!copy_from(path, &header, sizeof header, &met.file) || header.magic != record_magic ||
        header.rank != rank || header.world_size < 1 || header.world_size > static_cast<int>(most_ranks))
        return;
    // What a record says of its process is believed only if this run has started that.
    const auto all = descendants();
    if (std::ranges::find(all, header.pid) != all.end()) {
        met.process = static_cast<int>(syscall(SYS_pidfd_open, header.pid, 0));
        shared_memory_.merge(shared_memory_of(header.pid));
    }
    if (met.process < 0) {  // or it has gone since
        header.pid = 0;
        met.ended = true;
    } else {
        by_process_[met.process] = {job, rank};
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.fd = met.process;
        epoll_ctl(ends_, EPOLL_CTL_ADD, met.process, &event);
    }
    met.then = running_of(header.pid);
    jobs_[job].insert_or_assign(rank, std::move(met));
}

void Observer::take_ends()
{
    std::array<epoll_event, 64> ended{};
    for (int count = 0; (count = epoll_wait(ends_, ended.data(), ended.size(), 0)) > 0;)
        for (int i = 0; i < count; ++i) {
            const auto& [name, number] = by_process_[ended[static_cast<std::size_t>(i)].data.fd];
            Observed& rank = jobs_[name][number];
            rank.ended = true;
            rank.ends_before = ++ends_seen_;
        }
}

void Observer::refresh(Observed& rank)
{
    Header header{};
    ino_t file = 0;
    if (!copy_from(rank.path, &header, sizeof header, &file) || file != rank.file ||
        header.magic != record_magic)
        return;
    header.pid = rank.record->header.pid;  // as checked when it was met
    header.rank = rank.record->header.rank;
    header.world_size = rank.record->header.world_size;
    if (header.sequence != rank.record->header.sequence) {
        rank.since = Clock::now();
        rank.then = running_of(header.pid);
        rank.polls_then = header.polls;
    }
    rank.record->header = header;
}

bool Observer::is_still(const Observed& rank) const
{
    const Header& header = rank.record->header;
    if (rank.ended || header.life != Life::running || header.unwatched != 0 || header.group_count == 0)
        return false;
    const auto waited = Clock::now() - rank.since;
    if (waited < period_) return false;
    if (header.polling != 0)
        return header.reads_clock == 0 && header.polls - rank.polls_then >= fewest_polls &&
               header.timed_polls > 0 && header.outside / header.timed_polls < longest_between_polls;
    const Running now = running_of(header.pid);
    if (!now.known || !rank.then.known) return waited >= 2 * period_;
    return now.times - rank.then.times >= fewest_times ||
           now.nanoseconds - rank.then.nanoseconds >= least_running;
}

bool Observer::has_news(const std::string& name)
{
    std::string news;
    bool any_still = false;
    for (const auto& [number, rank] : jobs_[name]) {
        const bool still = is_still(rank);
        any_still = any_still || still;
        news += still ? std::to_string(rank.record->header.sequence) : "-";
        news += rank.ended || rank.record->header.life != Life::running ? "e," : ",";
    }
    std::string& last = last_news_[name];
    if (!any_still || news == last) return false;
    last = news;
    return true;
}

bool Observer::has_beginning_waits(const Job& job) const
{
    return std::ranges::any_of(job, [&](const auto& entry) {
        const Observed& rank = entry.second;
        const Header& header = rank.record->header;
        return !rank.ended && header.life == Life::running && header.unwatched == 0 &&
               header.group_count > 0 && !is_still(rank);
    });
}

std::vector<RankView> Observer::load(Job& job)
{
    std::vector<RankView> views;
    if (job.empty()) return views;
    views.resize(static_cast<std::size_t>(job.begin()->second.record->header.world_size));
    for (auto& [number, rank] : job) {
        const Header before = rank.record->header;
        ino_t file = 0;
        if (static_cast<std::size_t>(number) >= views.size()) continue;
        if (!copy_from(rank.path, rank.record.get(), sizeof(Record), &file) || file != rank.file) continue;
        Header& header = rank.record->header;
        const bool same = header.sequence == before.sequence;
        header.pid = before.pid;
        header.rank = before.rank;
        header.world_size = before.world_size;
        if (!same) {
            rank.since = Clock::now();
            rank.then = running_of(header.pid);
            rank.polls_then = header.polls;
        }
        views[static_cast<std::size_t>(number)] = {rank.record.get(), rank.ended, same && is_still(rank)};
    }
    return views;
}

void Observer::note_shared_memory()
{
    for (const pid_t process : descendants()) shared_memory_.merge(shared_memory_of(process));
}

bool Observer::has_living_ranks() const
{
    return std::ranges::any_of(jobs_, [](const auto& job) {
        return std::ranges::any_of(job.second, [](const auto& rank) { return !rank.second.ended; });
    });
}

int Observer::code_of_ranks() const
{
    for (const auto& [name, job] : jobs_)
        for (const auto& [number, rank] : job) {
            const Header& header = rank.record->header;
            const bool failed = header.life == Life::exited || header.life == Life::aborted;
            if (failed && header.code > 0 && header.code < 256) return header.code;
            if (header.life == Life::crashed) return 128 + (header.code & 127);
        }
    return 1;
}

int Observer::first_ended(const std::string& name) const
{
    const auto found = first_ended_.find(name);
    return found == first_ended_.end() ? -1 : found->second;
}

}  // namespace shardlings::watch

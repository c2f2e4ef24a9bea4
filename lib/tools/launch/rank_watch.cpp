#include "lib/tools/launch/rank_watch.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lib/machine/base/error.hpp"

namespace shardlings {

RankWatch::RankWatch(std::string run_folder)
    : run_folder_(std::move(run_folder)), ended_(epoll_create1(EPOLL_CLOEXEC))
{
}

RankWatch::~RankWatch()
{
    for (const int process : processes_) close(process);
    if (ended_ >= 0) close(ended_);
}

void RankWatch::look()
{
    constexpr std::string_view prefix = "rank-";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(run_folder_, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        const int rank = std::atoi(name.c_str() + prefix.size());
        int id = 0;
        if (watched_.contains(rank) || !(std::ifstream(entry.path()) >> id)) continue;
        watched_.insert(rank);
        const int process = static_cast<int>(syscall(SYS_pidfd_open, id, 0));
        if (process < 0) continue;
        processes_.insert(process);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = rank;
        epoll_ctl(ended_, EPOLL_CTL_ADD, process, &event);
    }
}

std::string RankWatch::told(int signal) const
{
    std::string who = "a rank";
    epoll_event first{};
    if (epoll_wait(ended_, &first, 1, 0) == 1) {
        const int rank = first.data.fd;
        who = fmt::format("rank {}", rank);
        std::ifstream note(fmt::format("{}/rank-{}", run_folder_, rank));
        std::string line;
        if (std::getline(note, line) && std::getline(note, line)) who += " (" + line + ")";
    }
    return fmt::format("{} was ended by signal {} ({})", who, signal, strsignal(signal));
}

}  // namespace shardlings

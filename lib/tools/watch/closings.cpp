#include "lib/tools/watch/closings.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>

namespace shardlings::watch {

namespace {

constexpr std::size_t most_files = 4096;

}  // namespace

Closings::Closings(const std::string& folder) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
{
    if (events_ >= 0) inotify_add_watch(events_, folder.c_str(), IN_CLOSE_WRITE);
}

Closings::~Closings()
{
    if (events_ >= 0) close(events_);
}

void Closings::take()
{
    char bytes[4096];
    for (ssize_t length = 0; events_ >= 0 && (length = read(events_, bytes, sizeof bytes)) > 0;)
        for (const char* at = bytes; at < bytes + length;) {
            inotify_event event{};
            std::memcpy(&event, at, sizeof event);
            if (event.len > 0 && places_.size() < most_files)
                places_.emplace(at + sizeof event, places_.size());
            at += sizeof event + event.len;
        }
}

std::size_t Closings::place_of(const std::string& name) const
{
    const auto found = places_.find(name);
    return found == places_.end() ? not_closed : found->second;
}

}  // namespace shardlings::watch

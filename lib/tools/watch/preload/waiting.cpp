// What the rank waits for, and which messages it has sent and received.
#include <time.h>

#include <algorithm>

#include "lib/tools/watch/preload/own.hpp"

namespace shardlings::watch {

namespace {

constexpr std::uint64_t untimed_polls = 8;  // so few in a row are not worth two system calls each

struct {
    std::uint32_t items = 0;      // used for groups so far
    std::uint64_t left_poll = 0;  // processor time then; 0: not taken
} polling;

std::uint64_t processor_time()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Writes group number `index`, its items from `first` on. Returns the place after them.
std::uint32_t write_group(std::uint32_t index, std::uint32_t first, Call call, std::uint64_t site, bool all,
                          std::span<const int> slots)
{
    Header& header = own.record->header;
    Group& group = header.groups[index];
    group = {call, all ? 1U : 0U, first, 0, 0, 0, site};
    for (const int slot : slots)
        if (slot < 0 || first + group.count == most_items)
            group.unknown = 1;
        else
            header.items[first + group.count++] = static_cast<std::uint16_t>(slot);
    return first + group.count;
}

bool same(const Group& group, Call call, std::uint64_t site, std::span<const int> slots)
{
    if (group.call != call || group.site != site || group.count > slots.size()) return false;
    const std::uint16_t* items = own.record->header.items + group.first;
    std::uint32_t at = 0;
    for (const int slot : slots)
        if (slot >= 0 && (at == group.count || items[at++] != slot)) return group.unknown != 0;
    return at == group.count;
}

Channel* find_channel(std::uint64_t communicator, int peer, int tag)
{
    constexpr std::uint32_t for_tags = most_channels / 4 * 3;  // the rest is for messages of other tags
    constexpr std::uint32_t attempts = 64;
    static std::uint32_t used = 0;
    std::uint64_t hash =
        communicator ^ (static_cast<std::uint64_t>(peer) << 32U) ^ static_cast<std::uint32_t>(tag);
    hash = (hash ^ (hash >> 31U)) * 0x9E37'79B9'7F4A'7C15U;
    for (std::uint32_t i = 0; i < attempts; ++i) {
        Channel& channel = own.record->channels[((hash >> 40U) + i) % most_channels];
        if (channel.communicator == communicator && channel.peer == peer && channel.tag == tag)
            return &channel;
        if (channel.communicator != 0) continue;
        if (tag != other_tags && used >= for_tags) break;
        ++used;
        channel.peer = peer;
        channel.tag = tag;
        publish(channel.communicator, communicator);
        return &channel;
    }
    return tag == other_tags ? nullptr : find_channel(communicator, peer, other_tags);
}

std::uint64_t count(Channel*& last, std::uint64_t Channel::*number, std::uint64_t communicator, int peer,
                    int tag)
{
    if (last == nullptr || last->communicator != communicator || last->peer != peer || last->tag != tag)
        last = find_channel(communicator, peer, tag);
    if (last == nullptr) {
        own.record->header.lost = 1;
        return 0;
    }
    publish(last->*number, last->*number + 1);
    return last->tag == tag ? last->*number : 0;
}

}  // namespace

Waiting::Waiting(Call call, std::uint64_t site, bool all, std::span<const int> slots)
{
    ++own.depth;
    Header& header = own.record->header;
    publish(header.group_count, 0U);
    header.polling = 0;
    header.polls = 0;
    write_group(0, 0, call, site, all, slots);
    publish(header.group_count, 1U);
    publish(header.sequence, header.sequence + 1);
}

Waiting::~Waiting()
{
    --own.depth;
    progress();
}

Poll::Poll(Call call, std::uint64_t site) : call_(call), site_(site)
{
    ++own.depth;
    if (own.record->header.polls >= untimed_polls) entered_ = processor_time();
}

void Poll::failed(bool all, std::span<const int> slots)
{
    Header& header = own.record->header;
    if (header.polling == 0) {
        progress();
        header.timed_polls = 0;
        header.outside = 0;
        header.reads_clock = 0;
        polling = {};
        header.polling = 1;
    }
    if (entered_ != 0 && polling.left_poll != 0) {
        header.outside += entered_ - polling.left_poll;
        ++header.timed_polls;
    }
    const std::span groups(header.groups, header.group_count);
    const bool known =
        std::ranges::any_of(groups, [&](const Group& group) { return same(group, call_, site_, slots); });
    if (!known && header.group_count == most_groups) {
        header.groups[0].unknown = 1;
        header.groups[0].all = 0;
    } else if (!known) {
        polling.items = write_group(header.group_count, polling.items, call_, site_, all, slots);
        publish(header.group_count, header.group_count + 1);
    }
    publish(header.polls, header.polls + 1);
    if (header.polls >= untimed_polls) polling.left_poll = processor_time();
}

std::uint64_t count_sent(std::uint64_t communicator, int peer, int tag)
{
    static Channel* last = nullptr;
    return count(last, &Channel::sent, communicator, peer, tag);
}

std::uint64_t count_received(std::uint64_t communicator, int peer, int tag)
{
    static Channel* last = nullptr;
    return count(last, &Channel::received, communicator, peer, tag);
}

}  // namespace shardlings::watch

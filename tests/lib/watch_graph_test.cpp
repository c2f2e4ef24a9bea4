// The rules of the wait-for graph, on records written by hand.
#include <initializer_list>
#include <memory>
#include <vector>

#include "lib/tools/watch/graph.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings::watch;

namespace {

constexpr std::uint64_t world = 7;  // the id of the one communicator

/// Records of a job, all ranks of which compute at first.
class Ranks {
  public:
    explicit Ranks(int size)
    {
        for (int rank = 0; rank < size; ++rank) {
            records_.push_back(std::make_unique<Record>());
            Record& record = *records_.back();
            record.header.life = Life::running;
            record.header.pending_end = first_request;
            record.communicators[0].id = world;
            for (int member = 0; member < size; ++member)
                record.communicators[0].members[0] |= std::uint64_t{1} << static_cast<unsigned>(member);
        }
    }

    Record& record(int rank) { return *records_[static_cast<std::size_t>(rank)]; }

    /// `rank` waits for all, or any, of receives from `sources` with tag 0.
    void waits(int rank, bool all, std::initializer_list<int> sources)
    {
        Record& record = this->record(rank);
        Group& group = record.header.groups[0];
        group = {Call::Waitall, all ? 1U : 0U, 0, 0, 0, 0, 0};
        for (const int source : sources) {
            const std::uint32_t slot = record.header.pending_end++;
            record.pending[slot] = {Kind::receive, Call::Irecv, world, source, 0, 0, slot, 0, 1, 0};
            record.header.items[group.count++] = static_cast<std::uint16_t>(slot);
        }
        record.header.group_count = 1;
    }

    void counts(int from, int to, int tag, std::uint64_t sent, std::uint64_t received)
    {
        Channel& out = free_channel(from);
        out = {world, to, tag, sent, 0};
        Channel& in = free_channel(to);
        in = {world, from, tag, 0, received};
    }

    std::vector<int> stuck(bool still = true)
    {
        std::vector<RankView> views;
        for (const auto& record : records_) views.push_back({record.get(), false, still});
        return Graph(views).stuck();
    }

    std::vector<int> cycle()
    {
        std::vector<RankView> views;
        for (const auto& record : records_) views.push_back({record.get(), false, true});
        return Graph(views).cycle();
    }

  private:
    Channel& free_channel(int rank)
    {
        for (Channel& channel : record(rank).channels)
            if (channel.communicator == 0) return channel;
        return record(rank).channels[0];
    }

    std::vector<std::unique_ptr<Record>> records_;
};

using Numbers = std::vector<int>;

}  // namespace

TEST_CASE("who waits for itself by way of others is stuck, who waits for one that computes is not")
{
    Ranks ranks(4);
    ranks.waits(0, true, {2});
    ranks.waits(1, true, {0});
    ranks.waits(2, true, {1});
    CHECK(ranks.stuck() == Numbers{0, 1, 2});
    CHECK(ranks.cycle() == Numbers{0, 2, 1, 0});
    CHECK(ranks.stuck(false).empty());
    ranks.waits(1, true, {3});
    CHECK(ranks.stuck().empty());
}

TEST_CASE("all of several need each of them, any of several needs one")
{
    Ranks ranks(3);
    ranks.waits(1, true, {0});
    ranks.waits(0, true, {1, 2});
    CHECK(ranks.stuck() == Numbers{0, 1});
    ranks.record(0).header.groups[0].all = 0;
    CHECK(ranks.stuck().empty());
    ranks.waits(2, true, {0});
    CHECK(ranks.stuck() == Numbers{0, 1, 2});
}

TEST_CASE("any source is one of the others")
{
    Ranks ranks(3);
    ranks.waits(0, true, {any});
    ranks.waits(1, true, {0});
    CHECK(ranks.stuck().empty());
    ranks.waits(2, true, {1});
    CHECK(ranks.stuck() == Numbers{0, 1, 2});
}

TEST_CASE("a message on its way ends a wait, unless an earlier receive takes it or it has another tag")
{
    Ranks ranks(2);
    ranks.waits(0, true, {1});
    ranks.waits(1, true, {0});
    ranks.counts(1, 0, 0, 3, 2);
    CHECK(ranks.stuck().empty());
    ranks.record(1).channels[0].sent = 2;
    CHECK(ranks.stuck() == Numbers{0, 1});
    ranks.counts(1, 0, 5, 1, 0);
    CHECK(ranks.stuck() == Numbers{0, 1});

    Ranks earlier(2);
    earlier.waits(0, true, {1, 1});
    earlier.record(0).header.groups[0].first = 1;
    earlier.record(0).header.groups[0].count = 1;
    earlier.waits(1, true, {0});
    earlier.counts(1, 0, 0, 1, 0);
    CHECK(earlier.stuck() == Numbers{0, 1});
    earlier.record(1).channels[0].sent = 2;
    CHECK(earlier.stuck().empty());
}

TEST_CASE("messages whose tags found no place are not known, unless all have come")
{
    Ranks ranks(2);
    ranks.waits(0, true, {1});
    ranks.waits(1, true, {0});
    ranks.counts(1, 0, other_tags, 4, 3);
    CHECK(ranks.stuck().empty());
    ranks.record(0).channels[0].received = 4;
    CHECK(ranks.stuck() == Numbers{0, 1});
    ranks.record(0).header.lost = 1;
    CHECK(ranks.stuck().empty());
}

TEST_CASE("nothing comes from a rank at MPI_Finalize, and it is not stuck itself")
{
    Ranks ranks(2);
    ranks.waits(0, true, {1});
    CHECK(ranks.stuck().empty());
    ranks.record(1).header.life = Life::finalizing;
    CHECK(ranks.stuck() == Numbers{0});
}

TEST_CASE("a collective needs all that have not come")
{
    Ranks ranks(3);
    for (const int rank : {0, 1}) {
        ranks.waits(rank, true, {any});
        Pending& collective = ranks.record(rank).pending[first_request];
        collective.kind = Kind::collective;
        collective.nth = 1;
        ranks.record(rank).communicators[0].collectives = 1;
    }
    CHECK(ranks.stuck().empty());
    ranks.waits(2, true, {0});
    CHECK(ranks.stuck() == Numbers{0, 1, 2});
    ranks.record(2).communicators[0].collectives = 1;
    CHECK(ranks.stuck().empty());
}

TEST_CASE("a record of nonsense is read without harm")
{
    Ranks ranks(3);
    for (const int rank : {0, 1}) {
        Record& record = ranks.record(rank);
        auto* bytes = reinterpret_cast<unsigned char*>(&record);
        for (std::size_t i = 0; i < sizeof record; ++i) bytes[i] = static_cast<unsigned char>(i * 167 + 13);
        record.header.life = Life::running;
    }
    ranks.waits(2, true, {0, 1});
    CHECK(ranks.stuck().size() <= 3);
}

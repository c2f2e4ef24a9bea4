// Runs of a collective as cases of a test: what goes in, and the promises that what comes out is held to.
#pragma once

#include <map>
#include <optional>

#include "lessons/03_collectives/ring.hpp"
#include "tests/03_collectives/pattern.hpp"
#include "tests/lib/run_and_check.hpp"

namespace collectives_test {

using namespace grade;
using collectives::Chunk;
using collectives::chunk_of;

inline constexpr int world_size = 8;
inline const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

/// World ranks in the order of the group.
using Group = std::vector<int>;

/// The values of all ranks of a group, as they are stored.
using RankValues = std::vector<std::vector<std::byte>>;

/// Ranks first, …, last.
Group ranks_from(int first, int last);

/// One call of a collective in one or more groups at the same time; the other ranks take no part.
struct Run {
    std::string function;
    std::vector<Group> groups;
    std::int64_t n = 0;
    DType dtype = DType::fp64;
    bool random = false;              // values; else those of which a sum says what it holds
    std::int64_t pad = 0;             // elements on both sides of the values that must stay as they are
    int repeat = 1;                   // calls, on the same values
    std::vector<double> starts = {};  // clocks at first, by world rank; all 0 when there are none
    Topology topology = {};           // must hold the ranks, or one node does
    int root = 0;
    int segments = 1;
    int ranks = world_size;
    // When > 0: a second call, in columns, after one in rows of so many ranks. The one group is all ranks,
    // row by row.
    int grid_columns = 0;

    Pattern pattern() const;
    /// The values of every rank of a group before the call, as they are stored.
    RankValues values_before(const Group& group) const;
};

/// Messages and elements to one rank of the group.
struct Sent {
    std::uint64_t messages = 0;
    std::int64_t elements = 0;
    bool fewer_messages = false;  // allowed, where some of them are empty
};

/// What one rank of a group must hold, send and use in the end.
struct Promise {
    std::vector<std::byte> values;  // of all n elements
    Chunk chunk;                    // those that are promised
    std::map<int, Sent> sent;       // to ranks of the group
    std::int64_t memory = 0;        // elements of the category communication, at most
};

/// When the last rank of a group is done, after the latest start.
struct Duration {
    double seconds;
    int roundings;  // of the clock on the way there
    bool at_most = false;
};

struct GroupPromise {
    std::vector<Promise> ranks;
    std::optional<Duration> duration = {};
    std::string order = {};                          // in which the sums are added, as a failure says it
    std::string algorithm = {};                      // that must be taken, if there is a choice
    std::optional<std::int64_t> between_nodes = {};  // elements that all ranks together send there
};

using Promises = std::function<GroupPromise(const Run&, const Group&)>;

/// The case of a run; each of its groups is held to what `promises` gives for it.
NamedCase case_of(const Run& run, const Promises& promises, const std::string& if_stuck);

/// The messages about one rank's values against its promise: first wrong element, whose values it holds.
std::string compare_values(const Run& run, const Group& group, const GroupPromise& promise, int rank,
                           const json& got);

}  // namespace collectives_test

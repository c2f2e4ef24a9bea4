// What the tests of lesson 08 share: groups of ranks, what a ring sends, how a tensor is cut.
#pragma once

#include <cmath>

#include "lessons/03_collectives/ring.hpp"
#include "tests/lib/run_and_check.hpp"

namespace tensor_parallel_test {

using namespace grade;

inline const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};
inline const std::vector<std::string> boundaries{"replicated", "sequence"};

/// Half the distance between 1 and the next number: the relative error of one rounding.
inline double roundoff(DType dtype)
{
    return epsilon_of(dtype) / 2.0;
}

/// What layers compute in: double for fp64, else float.
inline DType sum_dtype(DType dtype)
{
    return dtype == DType::fp64 ? DType::fp64 : DType::fp32;
}

inline std::int64_t ceiling(std::int64_t n, std::int64_t parts)
{
    return (n + parts - 1) / parts;
}

/// Whole numbers in [0, limit), reproducible from the seed and the name.
inline std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int64_t limit)
{
    std::vector<std::int32_t> ids;
    for (const double value : random_values(name, count, DType::fp64, 1e6))
        ids.push_back(static_cast<std::int32_t>(std::llround(std::abs(value)) % limit));
    return ids;
}

inline std::vector<double> values_of(const json& tensor)
{
    return tensor.at("values").get<std::vector<double>>();
}

// --- groups ---------------------------------------------------------------------------------------------

/// p ranks of a group, whose order is that of the world or, `reversed`, its opposite.
struct GroupOf {
    int p = 1;
    bool reversed = false;

    int world(int rank) const { return reversed ? p - 1 - rank : rank; }
    int right_of(int rank) const { return p == 1 ? -1 : world((rank + 1) % p); }
    const RankResult& at(const CaseResult& result, int rank) const
    {
        return result.ranks[static_cast<std::size_t>(world(rank))];
    }
    /// A case whose inputs are given by rank of the group.
    CaseInput input(const std::string& operation, const std::vector<json>& by_rank) const
    {
        CaseInput input{operation, std::vector<json>(by_rank.size())};
        for (int rank = 0; rank < p; ++rank) {
            json& own = input.ranks[static_cast<std::size_t>(world(rank))];
            own = by_rank[static_cast<std::size_t>(rank)];
            own["key"] = rank;
        }
        return input;
    }
};

// --- traffic --------------------------------------------------------------------------------------------

/// Messages and bytes that a rank sends.
struct Sent {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;

    Sent operator+(const Sent& other) const { return {messages + other.messages, bytes + other.bytes}; }
    bool operator==(const Sent&) const = default;
};

/// p − 1 messages with all chunks of n elements but one, which nobody needs of this rank: that of rank
/// `spared`.
inline Sent all_chunks_but(std::int64_t n, int p, int spared, DType dtype)
{
    const std::int64_t elements = n - collectives::chunk_of(n, p, spared % p).count;
    return {static_cast<std::uint64_t>(p - 1),
            static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size_of(dtype))};
}

/// Rank r's own chunk ends at rank r, and starts there.
inline Sent reduce_scatter_sends(std::int64_t n, int p, int rank, DType dtype)
{
    return all_chunks_but(n, p, rank, dtype);
}
inline Sent all_gather_sends(std::int64_t n, int p, int rank, DType dtype)
{
    return all_chunks_but(n, p, rank + 1, dtype);
}
inline Sent all_reduce_sends(std::int64_t n, int p, int rank, DType dtype)
{
    return reduce_scatter_sends(n, p, rank, dtype) + all_gather_sends(n, p, rank, dtype);
}

// --- what lies outside --------------------------------------------------------------------------------

/// R = B T rows of h numbers that are outside of the split layers, on the ranks of a group.
struct Outside {
    std::string boundary;
    GroupOf group;
    std::int64_t sequences, tokens;
    DType dtype;

    bool by_rows() const { return boundary == "sequence"; }
    std::int64_t rows() const { return sequences * tokens; }
    std::int64_t own_rows() const { return by_rows() ? ceiling(rows(), group.p) : rows(); }
    Shape shape(std::int64_t columns) const
    {
        return by_rows() ? Shape{own_rows(), columns} : Shape{sequences, tokens, columns};
    }
    Shape inside(std::int64_t columns) const { return {sequences, tokens, columns}; }
    std::string name() const
    {
        return fmt::format("T = {}{}, {}, B = {} x {} tokens, {}", group.p,
                           group.reversed ? " (reversed)" : "", boundary, sequences, tokens, name_of(dtype));
    }
    json inputs() const { return {{"boundary", boundary}, {"sequences", sequences}, {"tokens", tokens}}; }

    /// The part of `all`, R rows, that rank `rank` has outside; zeros behind their end.
    std::vector<double> part(const std::vector<double>& all, int rank) const
    {
        if (!by_rows()) return all;
        const auto columns = static_cast<std::int64_t>(all.size()) / rows();
        std::vector<double> own(static_cast<std::size_t>(own_rows() * columns), 0.0);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(own.size()); ++i) {
            const std::int64_t place = rank * own_rows() * columns + i;
            if (place < rows() * columns)
                own[static_cast<std::size_t>(i)] = all[static_cast<std::size_t>(place)];
        }
        return own;
    }
    json tensor(const std::vector<double>& all, int rank) const
    {
        return tensor_input(shape(static_cast<std::int64_t>(all.size()) / rows()), dtype, part(all, rank));
    }

    /// What f forward and g backward send of `columns` numbers a row, and what f backward and g forward do.
    Sent entering(std::int64_t columns, int rank) const
    {
        return by_rows() ? all_gather_sends(own_rows() * group.p * columns, group.p, rank, dtype) : Sent{};
    }
    Sent leaving(std::int64_t columns, int rank) const
    {
        return by_rows() ? reduce_scatter_sends(own_rows() * group.p * columns, group.p, rank, dtype)
                         : all_reduce_sends(rows() * columns, group.p, rank, dtype);
    }
};

// --- compared -----------------------------------------------------------------------------------------

inline std::string compare_sent(const GroupOf& group, int rank, const RankResult& result, Sent expected)
{
    return compare_traffic(result, expected.messages == 0 ? -1 : group.right_of(rank), expected.messages,
                           expected.bytes);
}

/// Elements that may each be `bound[i]` away from what is expected.
inline std::string compare_within(const std::string& name, const json& got, const json& expected,
                                  const std::vector<double>& bounds)
{
    const std::string form = compare(name, got, expected, {0.0, INFINITY});
    if (!form.empty()) return form;
    const std::vector<double> values = values_of(got), right = values_of(expected);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!(std::abs(values[i] - right[i]) <= bounds[i]))
            return compare(name, got, expected, {0.0, bounds[i]});
    return "";
}

/// Memory at the end of what was measured: what is returned, and nothing else.
inline std::string compare_left(const RankResult& result, std::int64_t returned)
{
    const auto left =
        result.measured.at("current").get<std::int64_t>() - result.measured.at("begin").get<std::int64_t>();
    if (left == returned) return "";
    return fmt::format(
        "{} bytes more than before are in use at the end, expected {}: what is returned, "
        "less what was taken over",
        left, returned);
}

/// Inputs that must come back as they were.
inline std::string compare_unchanged(const RankResult& result, const json& inputs,
                                     const std::vector<std::string>& names)
{
    for (const std::string& name : names)
        if (values_of(result.outputs.at(name)) != values_of(inputs.at(name)))
            return fmt::format("{} was changed: it is an input", name);
    return "";
}

/// An output that all ranks must have bit by bit.
inline std::string compare_on_all(const std::string& name, const CaseResult& result)
{
    for (std::size_t rank = 1; rank < result.ranks.size(); ++rank)
        if (result.ranks[rank].outputs.at(name) != result.ranks[0].outputs.at(name))
            return fmt::format("{} is not bitwise the same on ranks 0 and {}", name, rank);
    return "";
}

/// `a` and `b` behind each other.
inline void append(std::vector<std::string>& a, const std::vector<std::string>& b)
{
    a.insert(a.end(), b.begin(), b.end());
}

}  // namespace tensor_parallel_test

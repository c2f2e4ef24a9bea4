// 08.1 What goes into the split layers and what comes out of them: bit by bit, with the ring's traffic.
#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/08_tensor_parallel/support.hpp"

using namespace tensor_parallel_test;

namespace {

constexpr std::int64_t hidden = 3;

/// One function of the boundary on every rank of a group.
struct Run {
    Outside at;
    std::string function;

    bool gathers() const { return function == "enter" || function == "leave_backward"; }
    bool sums() const { return function == "leave" || function == "enter_backward"; }
    std::int64_t whole() const { return at.rows() * hidden; }
    std::int64_t bytes(std::int64_t elements) const
    {
        return elements * static_cast<std::int64_t>(size_of(at.dtype));
    }
    std::string name() const { return function + ", " + at.name(); }

    /// All rows, when they are gathered; a rank's own partial sums or gradient otherwise.
    std::vector<double> values(int rank) const
    {
        const std::string of = gathers() ? "all" : std::to_string(rank);
        return random_values("boundary " + name() + of, function == "sum_over_rows" ? 2 * hidden : whole(),
                             at.dtype);
    }
    json input(int rank) const
    {
        json inputs = at.inputs();
        inputs["function"] = function;
        if (gathers())
            inputs["x"] = at.tensor(values(rank), rank);
        else if (sums())
            inputs["x"] = tensor_input(at.inside(hidden), at.dtype, values(rank));
        else
            inputs["x"] = tensor_input({2, hidden}, at.dtype, values(rank));
        return inputs;
    }
};

/// The sum over the ranks as the ring forms it: chunk c from rank c + 1 on to rank c, each sum rounded. The
/// chunks are those of n elements, the numbers behind the end of `parts` zero.
std::vector<double> ring_sum(const std::vector<std::vector<double>>& parts, std::int64_t n, DType dtype)
{
    const int p = static_cast<int>(parts.size());
    Device device{DeviceOptions{}};
    std::vector<Tensor> tensors;
    for (std::vector<double> values : parts) {
        values.resize(static_cast<std::size_t>(n), 0.0);
        tensors.emplace_back(device, Shape{n}, dtype, Category::workspace);
        from_doubles(values, tensors.back());
    }
    Tensor sum(device, {n}, dtype, Category::workspace);
    for (int c = 0; c < p; ++c) {
        const collectives::Chunk chunk = collectives::chunk_of(n, p, c);
        const auto of = [&](int rank) {
            return tensors[static_cast<std::size_t>(rank % p)].buffer().part(chunk.offset, chunk.count);
        };
        const Buffer total = sum.buffer().part(chunk.offset, chunk.count);
        convert(of(c + 1), total);
        for (int i = 2; i <= p; ++i) add(of(c + i), total);
    }
    std::vector<double> values = to_doubles(sum);
    values.resize(parts.front().size());
    return values;
}

/// Bytes that are in use after the call beside what was before it: at least, and at most.
std::pair<std::int64_t, std::int64_t> bytes_held(const Run& run)
{
    const std::int64_t own = run.at.own_rows() * hidden;
    if (!run.at.by_rows() || run.function == "sum_over_rows") return {0, 0};
    if (run.sums()) return {run.bytes(own - run.whole()), run.bytes(own - run.whole())};
    return {run.bytes(run.whole()), run.bytes(own * run.at.group.p)};
}

/// Bytes that may be in use during the call beside what was before it: the gathered or padded rows, and the
/// ring's one chunk.
std::int64_t bytes_at_most(const Run& run)
{
    const std::int64_t p = run.at.group.p;
    const std::int64_t own = run.at.own_rows() * hidden;
    if (run.function == "sum_over_rows") return run.at.by_rows() ? run.bytes(ceiling(2 * hidden, p)) : 0;
    if (run.gathers()) return run.at.by_rows() ? run.bytes(own * p) : 0;
    if (!run.at.by_rows()) return run.bytes(ceiling(run.whole(), p));
    return run.bytes(own * p == run.whole() ? own : own * p);
}

std::string compare_memory(const Run& run, const RankResult& result)
{
    const auto number = [&](const char* name) { return result.measured.at(name).get<std::int64_t>(); };
    const std::int64_t held = number("current") - number("begin");
    const std::int64_t peak = number("peak") - number("begin");
    const auto [least, most] = bytes_held(run);
    if (held < least || held > most)
        return fmt::format(
            "the bytes in use change by {} over the call, expected {}: the rows that are returned, less what "
            "was taken over (a view keeps all of it)",
            held, least == most ? std::to_string(least) : fmt::format("{} to {}", least, most));
    if (peak > bytes_at_most(run))
        return fmt::format("{} bytes more than before are in use during it, expected at most {}", peak,
                           bytes_at_most(run));
    return "";
}

Sent sends(const Run& run, int rank)
{
    const Outside& at = run.at;
    if (run.gathers()) return at.entering(hidden, rank);
    if (run.sums()) return at.leaving(hidden, rank);
    return at.by_rows() ? all_reduce_sends(2 * hidden, at.group.p, rank, at.dtype) : Sent{};
}

/// What a wrong sum usually means, where it can be told.
std::string likely_cause(const Run& run, const json& y, int rank)
{
    if (run.at.group.p == 1 || !y.is_object()) return "";
    const std::vector<double> got = values_of(y), own = run.at.part(run.values(rank), rank);
    return got == own ? "; it is what this rank had before: nothing was added up" : "";
}

std::vector<std::string> check_rank(const Run& run, const CaseResult& result, int rank,
                                    const std::vector<double>& expected)
{
    const Outside& at = run.at;
    const RankResult& own = at.group.at(result, rank);
    const json input = run.input(rank);
    std::vector<std::string> messages;
    if (run.gathers())
        messages = {compare("the gathered rows", own.outputs.at("y"),
                            tensor_input(at.inside(hidden), at.dtype, expected), {}),
                    compare_unchanged(own, input, {"x"})};
    else if (run.sums()) {
        const json y = own.outputs.value("y", json());
        const std::string problem = compare("the summed rows", y, at.tensor(expected, rank), {});
        messages = {problem.empty() ? "" : problem + likely_cause(run, y, rank)};
    } else
        messages = {
            compare("the gradient", own.outputs.at("x"), tensor_input({2, hidden}, at.dtype, expected), {})};
    const double first = at.by_rows() ? static_cast<double>(rank * at.own_rows()) : 0.0;
    messages.push_back(compare_number("first_row", own.outputs.at("first_row").get<double>(), first, {}));
    messages.push_back(compare_sent(at.group, rank, own, sends(run, rank)));
    messages.push_back(compare_memory(run, own));
    for (std::string& message : messages) message = on_rank(rank, message);
    return messages;
}

std::vector<double> expected_of(const Run& run)
{
    if (run.gathers()) return run.values(0);
    if (run.function == "sum_over_rows" && !run.at.by_rows()) return {};  // each rank's own
    std::vector<std::vector<double>> parts;
    for (int rank = 0; rank < run.at.group.p; ++rank) parts.push_back(run.values(rank));
    const std::int64_t padded = run.at.own_rows() * run.at.group.p * hidden;
    return ring_sum(parts,
                    run.sums() && run.at.by_rows() ? padded : static_cast<std::int64_t>(parts.front().size()),
                    run.at.dtype);
}

NamedCase boundary_case(const Run& run)
{
    std::vector<json> inputs;
    for (int rank = 0; rank < run.at.group.p; ++rank) inputs.push_back(run.input(rank));
    return {run.name(), run.at.group.input("boundary", inputs), [=](const CaseResult& result) {
                const std::vector<double> expected = expected_of(run);
                std::vector<std::string> messages;
                for (int rank = 0; rank < run.at.group.p; ++rank)
                    append(messages,
                           check_rank(run, result, rank, expected.empty() ? run.values(rank) : expected));
                return messages;
            }};
}

/// Rows that T divides, that it does not, fewer rows than ranks, and one.
std::vector<NamedCase> cases_of(const std::string& boundary, const std::vector<std::string>& functions)
{
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (const int p : {1, 2, 3, 4, 8})
        for (const auto& [sequences, tokens] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 12}, {2, 5}, {1, 7}, {1, 1}})
            for (const std::string& function : functions) {
                const DType dtype = all_dtypes[(number + number / 4) % 4];
                ++number;
                cases.push_back(
                    boundary_case({{boundary, {p, tokens == 5}, sequences, tokens, dtype}, function}));
            }
    return cases;
}

}  // namespace

TEST_CASE("08.1 make_replicated_boundary: sums of all rows on every rank", "[08.1]")
{
    run_and_check("boundary", cases_of("replicated", {"enter", "leave", "leave_backward", "enter_backward",
                                                      "sum_over_rows"}));
}

TEST_CASE("08.1 make_sequence_boundary: rows gathered, sums of own rows", "[08.1]")
{
    run_and_check("boundary", cases_of("sequence", {"enter", "leave", "leave_backward", "enter_backward"}));
}

TEST_CASE("08.1 sum_over_rows: gradients of parameters that every rank has", "[08.1]")
{
    run_and_check("boundary", cases_of("sequence", {"sum_over_rows"}));
}

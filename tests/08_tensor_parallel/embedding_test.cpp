// 08.3 The token embedding over a vocabulary in parts, against lesson 01's on the whole.
#include "lessons/01_transformer/embedding.hpp"

#include "tests/08_tensor_parallel/support.hpp"

using namespace tensor_parallel_test;

namespace {

constexpr std::int64_t hidden = 3;
constexpr std::int64_t positions = 14;  // of which the first T are used

struct Run {
    Outside at;
    std::int64_t vocabulary;

    collectives::Chunk entries(int rank) const { return collectives::chunk_of(vocabulary, at.group.p, rank); }
    std::string name() const { return fmt::format("{}, V = {}", at.name(), vocabulary); }
    std::vector<double> random(const std::string& tensor, std::int64_t count) const
    {
        return random_values("embedding " + name() + tensor, count, at.dtype);
    }
    std::vector<std::int32_t> ids() const { return random_ids(name(), at.rows(), vocabulary); }
    std::vector<double> table(const std::string& name) const { return random(name, vocabulary * hidden); }
    std::vector<double> places(const std::string& name) const { return random(name, positions * hidden); }
    std::vector<double> dy() const { return random("dy", at.rows() * hidden); }

    json own_table(const std::vector<double>& all, int rank) const
    {
        const collectives::Chunk own = entries(rank);
        const auto first = all.begin() + own.offset * hidden;
        return tensor_input({own.count, hidden}, at.dtype, {first, first + own.count * hidden});
    }
    json input(int rank) const
    {
        json in = at.inputs();
        in.update({{"first_entry", entries(rank).offset},
                   {"entries", entries(rank).count},
                   {"ids", ids()},
                   {"wte", own_table(table("wte"), rank)},
                   {"wpe", tensor_input({positions, hidden}, at.dtype, places("wpe"))},
                   {"dy", at.tensor(dy(), rank)},
                   {"dwte", own_table(table("dwte"), rank)},
                   {"dwpe", tensor_input({positions, hidden}, at.dtype, places("dwpe"))}});
        return in;
    }
};

Tensor make(Device& device, const Shape& shape, DType dtype, const std::vector<double>& values)
{
    Tensor tensor(device, shape, dtype, Category::activations);
    from_doubles(values, tensor);
    return tensor;
}

/// y is the sum of two numbers, and of zeros, which round nothing: the same bits as in a single process.
std::vector<std::string> check_forward(const Run& run, const CaseResult& result)
{
    Device device{DeviceOptions{}};
    const Tensor y = transformer::embedding_forward(
        run.ids(), run.at.sequences, make(device, {run.vocabulary, hidden}, run.at.dtype, run.table("wte")),
        make(device, {positions, hidden}, run.at.dtype, run.places("wpe")));
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const RankResult& own = run.at.group.at(result, rank);
        const json expected = run.at.tensor(to_doubles(y), rank);
        const auto bytes =
            elements_of(run.at.shape(hidden)) * static_cast<std::int64_t>(size_of(run.at.dtype));
        for (const std::string& message :
             {compare("y", own.outputs.at("y"), expected, {}),
              compare_sent(run.at.group, rank, own, run.at.leaving(hidden, rank)), compare_left(own, bytes),
              compare_unchanged(own, run.input(rank), {"wte", "wpe"})})
            messages.push_back(on_rank(rank, message));
    }
    return messages;
}

struct Gradients {
    std::vector<double> dwte, dwpe;
};

/// Those of the whole, in fp64, or of all sizes |…|.
Gradients whole_gradients(const Run& run, double (*function)(double))
{
    Device device{DeviceOptions{}};
    const auto tensor = [&](const Shape& shape, std::vector<double> values) {
        for (double& value : values) value = function(value);
        return make(device, shape, DType::fp64, values);
    };
    const Tensor dy = tensor(run.at.inside(hidden), run.dy());
    Tensor dwte = tensor({run.vocabulary, hidden}, run.table("dwte"));
    Tensor dwpe = tensor({positions, hidden}, run.places("dwpe"));
    transformer::embedding_backward(dy, run.ids(), dwte, dwpe);
    return {to_doubles(dwte), to_doubles(dwpe)};
}

/// A sum of at most R + 1 numbers, computed in float or double (u) and rounded to the dtype (v):
/// 1.1 ((R + 1) u + v) Σ |terms|, on both sides in fp64.
std::vector<double> bounds(const Run& run, std::vector<double> sizes)
{
    const double steps = 2.0 * static_cast<double>(run.at.rows() + 1) * roundoff(sum_dtype(run.at.dtype)) +
                         roundoff(run.at.dtype);
    for (double& size : sizes) size *= 1.1 * steps;
    return sizes;
}

std::vector<std::string> check_backward(const Run& run, const CaseResult& result)
{
    const Gradients whole = whole_gradients(run, [](double x) { return x; });
    const Gradients sizes = whole_gradients(run, [](double x) { return std::abs(x); });
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const RankResult& own = run.at.group.at(result, rank);
        for (const std::string& message :
             {compare_within("dwte", own.outputs.at("dwte"), run.own_table(whole.dwte, rank),
                             bounds(run, values_of(run.own_table(sizes.dwte, rank)))),
              compare_within("dwpe", own.outputs.at("dwpe"),
                             tensor_input({positions, hidden}, run.at.dtype, whole.dwpe),
                             bounds(run, sizes.dwpe)),
              compare_sent(run.at.group, rank, own, run.at.entering(hidden, rank)), compare_left(own, 0),
              compare_unchanged(own, run.input(rank), {"dy"})})
            messages.push_back(on_rank(rank, message));
    }
    messages.push_back(compare_on_all("dwpe", result));
    return messages;
}

std::vector<NamedCase> cases_of(const std::string& operation,
                                std::vector<std::string> (*check)(const Run&, const CaseResult&))
{
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (const int p : {1, 2, 3, 4, 8})
        for (const std::int64_t vocabulary : {p, 13, 24})
            for (const std::string& boundary : boundaries) {
                const DType dtype = all_dtypes[(number / 2 + number / 6) % 4];
                ++number;
                const Run run{{boundary, {p, vocabulary == 24}, 2, vocabulary == 13 ? 7 : 12, dtype},
                              vocabulary};
                std::vector<json> inputs;
                for (int rank = 0; rank < p; ++rank) inputs.push_back(run.input(rank));
                cases.push_back({run.name(), run.at.group.input(operation, inputs),
                                 [=](const CaseResult& result) { return check(run, result); }});
            }
    return cases;
}

}  // namespace

TEST_CASE("08.3 embedding_forward: tokens of all ranks' entries, positions once", "[08.3]")
{
    run_and_check("vocabulary", cases_of("embedding_forward", check_forward));
}

TEST_CASE("08.3 embedding_backward: gradients of the own entries and of the positions", "[08.3]")
{
    run_and_check("vocabulary", cases_of("embedding_backward", check_backward));
}

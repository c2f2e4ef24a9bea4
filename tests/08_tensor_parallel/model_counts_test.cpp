// 08.4 What the model in parts sends, computes and saves: exactly what the formulas say.
#include <bit>

#include "tests/08_tensor_parallel/model_runs.hpp"

using namespace tensor_parallel_test;

namespace {

/// What one module's pass must send, compute and leave in memory, on one rank.
struct Counted {
    Sent sent;
    double flops = 0.0;
    std::int64_t held = 0;  // bytes of activations more than before
};

/// Of the run, on rank `rank`; R rows, of which S are outside on this rank.
class Formulas {
  public:
    Formulas(const GptRun& run, int rank) : run_(run), at_(run.at), rank_(rank) {}

    std::vector<Counted> forward() const
    {
        std::vector<Counted> all{{leaves(), 0.0, bytes(outside())}};
        for (std::int64_t layer = 0; layer < run_.shape.layers; ++layer)
            all.push_back({enters() + enters() + leaves() + leaves(), block_flops(), block_saves()});
        all.push_back({enters() + cross_entropy(), head_flops(), head_saves()});
        return all;
    }
    /// From the head to the embedding: each frees what it saved and takes dy's place.
    std::vector<Counted> backward() const
    {
        // Each of a block's two column layers gathers x again; each row layer gathers dy.
        const Sent enters_again = enters() + enters() + enters() + enters();
        const Sent norm = at_.by_rows() ? all_reduce_sends(2 * h(), p(), rank_, at_.dtype) : Sent{};
        std::vector<Counted> all{{enters() + leaves() + norm, 2.0 * head_flops(), -head_saves()}};
        const double attention = run_.recompute ? attention_flops() : 0.0;
        for (std::int64_t layer = 0; layer < run_.shape.layers; ++layer)
            all.push_back({enters_again + leaves() + leaves() + norm + norm, 2.0 * block_flops() + attention,
                           -block_saves()});
        all.push_back({enters(), 0.0, -bytes(outside())});
        return all;
    }

  private:
    int p() const { return at_.group.p; }
    std::int64_t h() const { return run_.shape.hidden; }
    std::int64_t rows() const { return at_.rows(); }
    std::int64_t outside() const { return at_.own_rows() * h(); }
    std::int64_t entries() const { return collectives::chunk_of(run_.shape.vocabulary, p(), rank_).count; }
    std::int64_t bytes(std::int64_t elements) const
    {
        return elements * static_cast<std::int64_t>(size_of(at_.dtype));
    }
    std::int64_t statistics(std::int64_t numbers) const
    {
        return numbers * static_cast<std::int64_t>(size_of(sum_dtype(at_.dtype)));
    }

    Sent enters() const { return at_.entering(h(), rank_); }
    Sent leaves() const { return at_.leaving(h(), rank_); }
    /// One number a row for each other rank, and the loss by recursive doubling.
    Sent cross_entropy() const
    {
        const int q = static_cast<int>(std::bit_floor(static_cast<unsigned>(p())));
        const int rounds = std::countr_zero(static_cast<unsigned>(q));
        const auto messages = static_cast<std::uint64_t>(rank_ >= q ? 1 : rounds + (rank_ + q < p() ? 1 : 0));
        return all_gather_sends(rows() * p(), p(), rank_, sum_dtype(at_.dtype)) +
               Sent{messages, 8 * messages};
    }

    /// Q Kᵀ and P V of the own heads: 2 · 2 B T² h / T_group.
    double attention_flops() const { return 4.0 * static_cast<double>(rows() * at_.tokens * h() / p()); }
    /// c_attn 3 h², c_proj h², c_fc 4 h², c_proj 4 h² multiplications and additions a row, over the group.
    double block_flops() const
    {
        return 2.0 * static_cast<double>(rows() * 12 * h() * h() / p()) + attention_flops();
    }
    double head_flops() const { return 2.0 * static_cast<double>(rows() * h() * entries()); }

    /// Outside: x, u and the outputs of both layer norms. Inside, of all rows: Q, K, V, what the heads give,
    /// the MLP's 4 h twice; and the probabilities of the own heads. Statistics: two numbers a row outside.
    std::int64_t block_saves() const
    {
        const std::int64_t inside = rows() * (3 + 1 + 4 + 4) * h() / p();
        const std::int64_t probabilities =
            run_.recompute ? 0 : at_.sequences * run_.shape.heads / p() * at_.tokens * at_.tokens;
        return bytes(4 * outside() + inside + probabilities) + statistics(4 * at_.own_rows());
    }
    /// x, which is there before, and the layer norm's output; own logits; statistics and denominators; the
    /// loss.
    std::int64_t head_saves() const
    {
        return bytes(outside() + rows() * entries()) + statistics(2 * at_.own_rows() + rows()) + 8;
    }

    GptRun run_;
    Outside at_;
    int rank_;
};

std::string compare_module(const std::string& pass, const std::string& name, std::size_t module,
                           const json& out, const Counted& expected)
{
    const auto number = [&](const char* name) { return out.at(pass + " " + name).at(module).get<double>(); };
    const Sent sent{static_cast<std::uint64_t>(number("messages")),
                    static_cast<std::uint64_t>(number("bytes"))};
    std::string problem;
    if (!(sent == expected.sent))
        problem = fmt::format("sends {} messages with {} bytes, expected {} with {}", sent.messages,
                              sent.bytes, expected.sent.messages, expected.sent.bytes);
    else if (number("flops") != expected.flops)
        problem = fmt::format("does {} FLOPs, expected {}", number("flops"), expected.flops);
    else if (number("held") != static_cast<double>(expected.held))
        problem = fmt::format("changes the activations in memory by {} bytes, expected {}", number("held"),
                              expected.held);
    return problem.empty() ? "" : fmt::format("{} of {}: {}", pass, name, problem);
}

std::vector<std::string> check_counts(const GptRun& run, const CaseResult& result)
{
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const json& out = run.at.group.at(result, rank).outputs;
        const Formulas formulas(run, rank);
        const std::vector<Counted> forward = formulas.forward(), backward = formulas.backward();
        const std::size_t count = forward.size();
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = i == 0           ? "the embedding"
                                     : i + 1 == count ? "the head"
                                                      : fmt::format("block {}", i - 1);
            messages.push_back(on_rank(rank, compare_module("forward", name, i, out, forward[i])));
            const std::size_t from_end = count - 1 - i;
            messages.push_back(
                on_rank(rank, compare_module("backward", name, from_end, out, backward[from_end])));
        }
    }
    return messages;
}

}  // namespace

TEST_CASE("08.4 make_gpt: what each module sends, computes and saves", "[08.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 8}) {
        std::vector<GptRun> runs = exact_runs(p);
        for (const GptRun& run : rounded_runs(p)) runs.push_back(run);
        for (const GptRun& run : runs)
            cases.push_back({run.name(), run.case_input("gpt"),
                             [=](const CaseResult& result) { return check_counts(run, result); }});
    }
    run_and_check("model", cases, 10.0);
}

// 10.5 Activations: what a block keeps by hand and for real, what is in flight, and the published sizes.
#include "lessons/10_counting/activations.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "lessons/07_gpipe/check.hpp"
#include "lessons/10_counting/schedule.hpp"
#include "tests/10_counting/jobs.hpp"

using namespace counting_test;

namespace {

/// The number that `what` gives for a device and a chunk of it.
NamedCase number_case(const std::string& what, const Job& job, double expected, Place place = {},
                      int chunk = 0, Tolerance tolerance = {})
{
    json inputs = counting_test::inputs_of(job);
    inputs.update(
        {{"what", what}, {"stage", place.stage}, {"tensor_rank", place.tensor_rank}, {"chunk", chunk}});
    return {fmt::format("{}; stage {}, chunk {}, tensor rank {}", describe(job), place.stage, chunk,
                        place.tensor_rank),
            one_rank("activation", inputs), [=](const RankResult& result) {
                return std::vector<std::string>{compare_with_cause(
                    what, result.outputs.at("number").get<double>(), expected, tolerance, job)};
            }};
}

/// Tensors that a rank keeps, added up one by one.
class Keeper {
  public:
    explicit Keeper(const Job& job) : job_(job), tp_(job.layout.tp) {}

    double block(Recompute recompute)
    {
        if (recompute == Recompute::full) return activation();
        double bytes = 0.0;
        for (int layer_norm = 0; layer_norm < 2; ++layer_norm)
            bytes += activation() + 2.0 * numbers_outside();
        bytes += activation() + 3.0 * columns();  // enters; Q, K, V
        if (recompute == Recompute::none) bytes += probabilities();
        bytes += columns();                             // the heads' results
        bytes += activation() + 2.0 * 4.0 * columns();  // enters; before and behind GELU
        return bytes;
    }
    double head(int tensor_rank)
    {
        const double entries = static_cast<double>(counting::vocabulary_of_rank(job_, tensor_rank));
        return 2.0 * activation() + 2.0 * numbers_outside() +
               rows() * (entries * size() + number());  // logits, denominators
    }
    double activation() { return rows_outside() * hidden() * size(); }

  private:
    double size() const { return static_cast<double>(size_of(job_.dtype)); }
    double number() const { return job_.dtype == DType::fp64 ? 8.0 : 4.0; }
    double hidden() const { return static_cast<double>(job_.shape.hidden); }
    double rows() const { return static_cast<double>(job_.micro_batch() * job_.shape.sequence); }
    double rows_outside() const { return job_.layout.sequence_parallel ? std::ceil(rows() / tp_) : rows(); }
    double numbers_outside() const { return rows_outside() * number(); }
    double columns() const { return rows() * hidden() / tp_ * size(); }
    double probabilities() const
    {
        const auto s = static_cast<double>(job_.shape.sequence);
        return static_cast<double>(job_.micro_batch() * (job_.shape.heads / job_.layout.tp)) * s * s * size();
    }

    Job job_;
    double tp_;
};

std::int64_t blocks_of(const Job& job, Place place, int chunk)
{
    return pipeline::blocks_of(job.shape,
                               job.layout)[static_cast<std::size_t>(chunk * job.layout.pp + place.stage)];
}

bool is_last(const Job& job, Place place, int chunk)
{
    return place.stage == job.layout.pp - 1 && chunk == job.layout.virtual_stages - 1;
}

double chunk_bytes(const Job& job, Place place, int chunk, Recompute recompute)
{
    Keeper keeper(job);
    const bool begins = place.stage == 0 && chunk == 0;
    if (recompute == Recompute::full && job.layout.pp > 1) return begins ? 0.0 : keeper.activation();
    return static_cast<double>(blocks_of(job, place, chunk)) * keeper.block(recompute) +
           (is_last(job, place, chunk) ? keeper.head(place.tensor_rank) : 0.0);
}

/// What is kept when a stage's program comes to its first backward pass, and what that pass runs again.
double stage_bytes(const Job& job, Place place)
{
    double bytes = 0.0;
    const pipeline::Schedule schedule = counting::schedule_of(job);
    for (const pipeline::Instruction& step : schedule.programs[static_cast<std::size_t>(place.stage)]) {
        if (step.action == pipeline::Action::backward) break;
        if (step.action == pipeline::Action::forward)
            bytes += chunk_bytes(job, place, step.chunk, job.recompute);
    }
    if (job.recompute != Recompute::full) return bytes;
    Keeper keeper(job);
    if (job.layout.pp == 1) return bytes + keeper.block(Recompute::none) - keeper.activation();
    double again = 0.0;
    for (int chunk = 0; chunk < job.layout.virtual_stages; ++chunk)
        again = std::max(again, chunk_bytes(job, place, chunk, Recompute::none) -
                                    chunk_bytes(job, place, chunk, Recompute::full));
    return bytes + again;
}

/// A device of the job, and a chunk of it.
struct Spot {
    Place place;
    int chunk;
};
Spot random_spot(const Job& job, Dice& dice)
{
    return {{static_cast<int>(dice.roll(0, job.layout.pp - 1)),
             static_cast<int>(dice.roll(0, job.layout.tp - 1))},
            static_cast<int>(dice.roll(0, job.layout.virtual_stages - 1))};
}

Job single_stage(const ModelShape& shape, int tp, bool sequence, Recompute recompute, DType dtype)
{
    Job job;
    job.shape = shape;
    job.layout.tp = tp;
    job.layout.sequence_parallel = sequence;
    job.recompute = recompute;
    job.dtype = dtype;
    job.batch = 2;
    return job;
}

NamedCase real_activations_case(const Job& job)
{
    return real_case("real_activations", job, "bytes kept",
                     [](const RankResult& rank) { return rank.outputs.at("kept").get<double>(); });
}

/// Korthikanti et al. 2022: a model of table 3, its bytes on the first stage of 1F1B or interleaved 1F1B.
Job published(const ModelShape& shape, int pp, int chunks, std::int64_t micro_batch, Recompute recompute)
{
    Job job;
    job.shape = shape;
    job.layout.pp = pp;
    job.layout.tp = 8;
    job.layout.schedule = chunks > 1 ? "interleaved" : "1f1b";
    job.layout.virtual_stages = chunks;
    job.layout.sequence_parallel = recompute == Recompute::selective;
    job.dtype = DType::bf16;
    job.micro_batches = 8 * pp;
    job.batch = micro_batch * job.micro_batches;
    job.recompute = recompute;
    return job;
}

/// Nine products and quotients of doubles, each rounded by half an epsilon.
constexpr Tolerance rounding{9 * 0.5 * std::numeric_limits<double>::epsilon(), 0.0};

}  // namespace

TEST_CASE("10.5 saved_by_block: a small block by hand", "[10.5]")
{
    // 2 sequences of 3 tokens, h = 4, a = 2: 6 rows. fp32: 6 · (4·4·4 + 4·4) = 480 outside, 6·12·4·4 = 1152
    // inside, 4·2·2·9 = 144 of probabilities. On 2 ranks half of what is inside; of the rows outside 3.
    const ModelShape shape{1, 4, 2, 3, 5};
    const auto block = [&](int tp, bool sequence, Recompute recompute, double expected) {
        return number_case("saved_by_block", single_stage(shape, tp, sequence, recompute, DType::fp32),
                           expected);
    };
    run_simplest_first(
        "activations",
        {block(1, false, Recompute::none, 1776), block(1, false, Recompute::selective, 1632),
         block(1, false, Recompute::full, 96), block(2, false, Recompute::none, 480 + 576 + 72),
         block(2, true, Recompute::none, 240 + 576 + 72), block(2, true, Recompute::selective, 240 + 576),
         block(2, true, Recompute::full, 48),
         // 16 bits: half, but for the numbers in fp32; fp64: twice.
         number_case("saved_by_block", single_stage(shape, 1, false, Recompute::none, DType::bf16),
                     (1776 + 96) / 2),
         number_case("saved_by_block", single_stage(shape, 1, false, Recompute::none, DType::fp64),
                     1776 * 2)});
}

TEST_CASE("10.5 saved_by_chunk: real passes", "[10.5]")
{
    const ModelShape odd{2, 6, 3, 5, 10};
    run_simplest_first("activations",
                       {real_activations_case(single_stage(odd, 3, false, Recompute::none, DType::fp32)),
                        real_activations_case(single_stage(odd, 3, true, Recompute::none, DType::fp64)),
                        real_activations_case(single_stage(odd, 3, false, Recompute::selective, DType::bf16)),
                        real_activations_case(single_stage(odd, 3, true, Recompute::selective, DType::fp16)),
                        real_activations_case(single_stage(odd, 3, true, Recompute::full, DType::bf16))});
}

TEST_CASE("10.5 saved_by_chunk: chunks of random layouts", "[10.5]")
{
    Dice dice("chunks");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 80; ++i) {
        const Job job = random_job(dice);
        const Spot spot = random_spot(job, dice);
        cases.push_back(number_case("saved_by_chunk", job,
                                    chunk_bytes(job, spot.place, spot.chunk, job.recompute), spot.place,
                                    spot.chunk));
    }
    run_simplest_first("activations", cases);
}

TEST_CASE("10.5 passes_in_flight: what the schedules do", "[10.5]")
{
    Dice dice("in flight");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 80; ++i) {
        const Job job = random_job(dice);
        const std::vector<int> most = pipeline::most_in_flight(counting::schedule_of(job));
        const auto stage = static_cast<int>(dice.roll(0, job.layout.pp - 1));
        cases.push_back(
            number_case("passes_in_flight", job, most[static_cast<std::size_t>(stage)], {stage, 0}));
    }
    run_simplest_first("activations", cases);
}

TEST_CASE("10.5 saved_activations: devices of random layouts", "[10.5]")
{
    Dice dice("stages");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 80; ++i) {
        const Job job = random_job(dice);
        const Place place = random_spot(job, dice).place;
        cases.push_back(number_case("saved_activations", job, stage_bytes(job, place), place));
    }
    run_simplest_first("activations", cases);
}

TEST_CASE("10.5 megatron_activations: the published models", "[10.5]")
{
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    const ModelShape small{48, 6144, 64, 2048, 51200};
    const ModelShape large{96, 12288, 96, 2048, 51200};
    const auto published_case = [&](const Job& job, double expected) {
        return number_case("megatron_activations", job, expected * gib, {}, 0, rounding);
    };
    run_simplest_first("activations",
                       {published_case(published(small, 1, 1, 4, Recompute::none), 59.25),
                        published_case(published(small, 1, 1, 4, Recompute::selective), 9.5625),
                        published_case(published(large, 8, 3, 1, Recompute::none), 66.84375),
                        published_case(published(large, 8, 3, 1, Recompute::selective), 12.3515625)});
}

TEST_CASE("10.5 megatron_saved_by_block: ours, masks and a second copy of the probabilities", "[10.5]")
{
    Dice dice("Megatron");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        Job job = random_job(dice);
        job.dtype = DType::bf16;
        if (job.layout.sequence_parallel) job.batch *= job.layout.tp;  // so that rows divide
        const double outside = static_cast<double>(job.micro_batch() * job.shape.sequence) /
                               (job.layout.sequence_parallel ? job.layout.tp : 1);
        const double elements = outside * static_cast<double>(job.shape.hidden);
        double expected = Keeper(job).block(job.recompute);
        if (job.recompute != Recompute::full) expected += 2.0 * elements - 4.0 * 4.0 * outside;
        if (job.recompute == Recompute::none)
            expected += 3.0 * static_cast<double>(job.shape.heads / job.layout.tp * job.shape.sequence) *
                        static_cast<double>(job.micro_batch() * job.shape.sequence);
        cases.push_back(number_case("megatron_saved_by_block", job, expected, {}, 0, rounding));
    }
    run_simplest_first("activations", cases);
}

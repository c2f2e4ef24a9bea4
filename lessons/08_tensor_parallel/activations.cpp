// What a block keeps between its passes, in bf16, beside the formulas: on 1 and 8 ranks, with sequence
// parallelism and with the attention's probabilities or everything recomputed. s = 128 tokens, b = 2
// sequences, h = 64, a = 8 heads.
#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;

namespace {

struct Way {
    const char* name;
    bool sequence_parallel;
    bool selective;
    bool full;
};

/// Bytes of bf16 for s b h elements on all ranks of the group, or 1/t of them, and of attention
/// probabilities.
struct Terms {
    double whole;
    double cut;
    double scores;      // times a s / h
    double statistics;  // of layer norms: fp32, a mean and a deviation a row
};

Terms terms_of(const Way& way)
{
    if (way.full) return {2, 0, 0, 0};
    const double scores = way.selective ? 0 : 2;
    return way.sequence_parallel ? Terms{0, 32, scores, 16} : Terms{8, 24, scores, 16};
}

double bytes_of(const Terms& terms, const TrainOptions& o)
{
    const auto t = static_cast<double>(o.layout.tp);
    const auto s = static_cast<double>(o.shape.sequence);
    const auto h = static_cast<double>(o.shape.hidden);
    const auto rows = static_cast<double>(o.batch) * s;
    const double outside = o.layout.sequence_parallel ? t : 1.0;
    return rows * h *
               (terms.whole + terms.cut / t +
                terms.scores * static_cast<double>(o.shape.heads) * s / (h * t)) +
           rows * terms.statistics / outside;
}

/// Korthikanti et al. 2022, section 4.
double bytes_of_paper(const Way& way, const TrainOptions& o)
{
    if (way.full) return bytes_of({2, 0, 0, 0}, o);
    const double scores = way.selective ? 0 : 5;
    return bytes_of(way.sequence_parallel ? Terms{0, 34, scores, 0} : Terms{10, 24, scores, 0}, o);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        double flops = 0.0;
        if (session.rank() == 0)
            fmt::print(
                "                                      T   counted    ours   paper   FLOPs of the group\n");
        for (const Way& way : {Way{"tensor-parallel", false, false, false},
                               Way{"tensor- and sequence-parallel", true, false, false},
                               Way{"the same, selective recomputation", true, true, false},
                               Way{"tensor-parallel, full recomputation", false, false, true}})
            for (const int degree : {1, 8}) {
                TrainOptions options = tensor_run(degree);
                options.shape.sequence = 128;
                options.batch = 2;
                options.dtype = DType::bf16;
                options.dropout = 0.1;
                options.layout.sequence_parallel = way.sequence_parallel;
                options.recompute_attention = way.selective;
                options.recompute = way.full;
                const BlockFigures block = measure_block(session, options);
                if (session.rank() != 0) continue;
                if (flops == 0.0) flops = block.flops;
                fmt::print("{:<36}{:>3}{:>10}{:>8}{:>8}{:>12.4f}\n", way.name, degree, block.saved,
                           bytes_of(terms_of(way), options), bytes_of_paper(way, options),
                           block.flops * degree / flops);
            }
        return 0;
    });
}

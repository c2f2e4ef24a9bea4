// Parameters counted three ways: the matrices on a napkin, every bucket of a device, and the model's own
// list.
#include <fmt/core.h>

#include <numeric>

#include "lessons/01_transformer/model.hpp"
#include "lessons/10_counting/parameters.hpp"

using namespace shardlings;

namespace {

void print_row(const char* name, const ModelShape& shape)
{
    // BEGIN three_ways
    counting::Job job;
    job.shape = shape;
    const double rough = counting::rough_parameters(shape).total();
    const auto buckets = counting::bucket_elements(job, {});
    const std::int64_t exact = std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0});
    const Modules model = transformer::make_gpt(shape);
    std::int64_t own = 0;
    for (const Parameter* parameter : parameters_of(model)) own += parameter->elements();
    // END three_ways
    fmt::print("{:<11}{:>16.0f}{:>16}{:>16}{:>12.3f} %\n", name, rough, exact, own,
               100.0 * (1.0 - rough / static_cast<double>(exact)));
}

}  // namespace

int main()
{
    fmt::print("{:<11}{:>16}{:>16}{:>16}{:>14}\n", "", "matrices", "buckets", "the model's own", "left out");
    print_row("toy", {2, 8, 2, 4, 16});
    print_row("GPT-2 124M", {12, 768, 12, 1024, 50257});
    print_row("GPT-3 175B", {96, 12288, 96, 2048, 50257});
}

// The bubble of 4 stages on the clock beside its formula: with free links, and with real ones.
#include <algorithm>
#include <cmath>
#include <string>

#include "lessons/07_gpipe/runs.hpp"

using namespace lesson;

namespace {

constexpr int stages = 4;

double formula(std::int64_t micro_batches, int chunks)
{
    return (stages - 1.0) / static_cast<double>(chunks * micro_batches + stages - 1);
}

/// The idle part in per cent beside the formula's; the interleaved schedule needs a multiple of 4
/// micro-batches.
void print_free(MpiSession& session, double& largest)
{
    if (session.rank() == 0)
        fmt::print(
            "free links                                               interleaved, V = 2\n"
            " M   (P-1)/M  (P-1)/(M+P-1)      GPipe       1F1B   (P-1)/(2M+P-1)   measured\n");
    for (const std::int64_t m : {1, 2, 4, 8, 16, 32}) {
        std::string row =
            fmt::format("{:>2}{:>10.4f}{:>15.8f}", m, (stages - 1.0) / static_cast<double>(m), formula(m, 1));
        for (const std::string schedule : {"gpipe", "1f1b", "interleaved"}) {
            const bool interleaved = schedule == "interleaved";
            if (interleaved && m % stages != 0) continue;
            TrainOptions options = equal_stages(schedule, m);
            options.topology = free_links(options.topology);
            const double idle = measure_step(session, options).idle;
            const double expected = formula(m, interleaved ? 2 : 1);
            largest = std::max(largest, std::abs(idle - expected));
            row += interleaved ? fmt::format("{:>17.8f}{:>11.8f}", expected, idle)
                               : fmt::format("{:>11.8f}", idle);
        }
        if (session.rank() == 0) fmt::print("{}\n", row);
    }
}

void print_real(MpiSession& session)
{
    if (session.rank() == 0)
        fmt::print(
            "\n5 us and 25 GB/s a link\n"
            "          GPipe                    1F1B                    interleaved, V = 2\n"
            " M      step   idle  messages      step   idle  messages       step   idle  messages\n");
    for (const std::int64_t m : {1, 2, 4, 8, 16, 32}) {
        std::string row = fmt::format("{:>2}", m);
        for (const std::string schedule : {"gpipe", "1f1b", "interleaved"}) {
            if (schedule == "interleaved" && m % stages != 0) continue;
            const MeasuredStep step = measure_step(session, equal_stages(schedule, m));
            row += fmt::format("{:>7.1f} us{:>7.4f}{:>8}", 1e6 * step.seconds, step.idle, step.messages);
        }
        if (session.rank() == 0) fmt::print("{}\n", row);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        double largest = 0.0;
        print_free(session, largest);
        if (session.rank() == 0)
            fmt::print("measured and formula differ by {}\n", largest < 1e-12 ? "less than 1e-12" : "more");
        print_real(session);
        return 0;
    });
}

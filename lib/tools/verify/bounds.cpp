#include "lib/tools/verify/bounds.hpp"

#include <bit>

namespace shardlings::verify {

double least_elements(Collective kind, int ranks, double elements)
{
    return (kind == Collective::all_reduce ? 2.0 : 1.0) * (ranks - 1) * elements;
}

double latency_bound(int ranks, const Link& link)
{
    return std::bit_width(static_cast<unsigned>(ranks - 1)) * link.latency;
}

double bandwidth_bound(Collective kind, int ranks, double bytes, const Link& link)
{
    if (ranks == 1) return 0.0;
    if (kind == Collective::broadcast) return bytes / link.bandwidth;
    return least_elements(kind, ranks, bytes) / ranks / link.bandwidth;
}

std::string_view least_elements_formula(Collective kind)
{
    return kind == Collective::all_reduce ? "2(p - 1) n" : "(p - 1) n";
}

std::string_view bandwidth_formula(Collective kind)
{
    switch (kind) {
        case Collective::all_reduce:
            return "2(p - 1)/p n beta";
        case Collective::broadcast:
            return "n beta";
        default:
            return "(p - 1)/p n beta";
    }
}

}  // namespace shardlings::verify

// That nothing which a stage shards is kept whole in ordinary memory instead.
#pragma once

#include "lib/tools/grade/protocol.hpp"
#include "tests/05_zero/sizes.hpp"

namespace zero_test {

/// Runs `operation` of driver_elsewhere.hpp with a bucket of 128 KiB for each of four modules. What else the
/// heap grows by is a few objects and names for each bucket: half a bucket is far more, and less than
/// anything that is worth keeping. `what` could be kept: "parameters".
inline NamedCase elsewhere_case(const std::string& operation, const std::string& what, int degree)
{
    const Setup setup = setup_of({{16384}, {16384}, {16384}, {16384}}, degree, 1);
    constexpr double allowed = 65536.0;  // bytes
    NamedCase named;
    named.name = setup.name();
    named.input = case_input(setup, operation, {});
    named.check = [=](const CaseResult& result) {
        std::vector<std::string> found;
        const std::vector<const RankResult*> ranks = members(result, degree);
        for (std::size_t r = 0; r < ranks.size() && found.empty(); ++r)
            if (const double grown = ranks[r]->outputs.at("grown"); grown > allowed)
                found.push_back(on_rank(
                    static_cast<int>(r),
                    fmt::format(
                        "the heap grew by {} bytes beside the device's memory (buckets have 131072): are "
                        "{} {}, in a std::vector?",
                        grown, what, hoarding)));
        return found;
    };
    return named;
}

}  // namespace zero_test

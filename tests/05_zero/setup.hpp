// Cases over probe modules, as the judge sees them: the buckets, and the ranks that take part.
#pragma once

#include "lessons/04_data_parallel/buckets.hpp"
#include "tests/05_zero/probes.hpp"
#include "tests/lib/run_and_check.hpp"

namespace zero_test {

using namespace grade;
using data_parallel::Bucket;

/// All cases run on so many ranks; the last `degree` of them are the group, so that a rank of the group is
/// another in the world.
inline constexpr int world_size = 8;
inline constexpr double device_flops = 1e9;  // a second
inline const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

struct Setup {
    Sizes sizes;
    int degree = 1;
    std::int64_t bucket_bytes = 1;
    DType dtype = DType::fp64;
    std::int64_t micro_batches = 1;
    bool first_reads = false;  // values in the first module's backward pass, as in a later pipeline stage
    bool overlap = true;
    Link link{2e-6, 20e6};  // so slow that the bytes of small buckets count

    bool unequal_ranks = false;  // do the ranks compute unequally long?
    std::int64_t seed = 1;

    std::string name() const;
    /// Of every pass of a module on a rank of the group.
    std::vector<double> flops(int rank) const;
};

/// The modules and buckets of a setup.
struct Geometry {
    explicit Geometry(const Setup& setup);
    Geometry(Modules of, int degree, DType dtype, std::int64_t bucket_bytes);

    Modules modules;
    std::vector<Bucket> buckets;
    std::vector<std::vector<std::size_t>> used;  // the buckets of each module's parameters
    std::uint64_t element;                       // bytes

    std::uint64_t bytes_of(std::size_t bucket) const
    {
        return static_cast<std::uint64_t>(buckets[bucket].padded) * element;
    }
    /// Bytes of the shards of all buckets.
    std::uint64_t shards(int degree) const;
};

/// "bucket 1 (modules 2 to 3, 24 bytes)".
std::string name_of(const Geometry& geometry, std::size_t bucket);
/// "the shards (40 bytes), bucket 0 (…) and bucket 2 (…)"
std::string list_of(const Geometry& geometry, int degree, const std::vector<std::size_t>& buckets);

/// A case of `operation` on the group of the setup; `inputs` go to every rank.
CaseInput case_input(const Setup& setup, const std::string& operation, const json& inputs);

/// What came out on the ranks of the group, in their order.
std::vector<const RankResult*> members(const CaseResult& result, int degree);

/// A seed that changes with the tests' seed.
std::uint64_t seed_of(const std::string& name);

}  // namespace zero_test

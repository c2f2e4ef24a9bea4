#include "tests/05_zero/elsewhere.hpp"
#include "tests/05_zero/optimizer_check.hpp"

using namespace zero_test;

TEST_CASE("05.2 make_sharded_optimizer: own shards only, and bitwise the update of whole buckets", "[05.2]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 1, 3, 4, 5, 8})
        for (const std::int64_t bucket_bytes : {1, 100, 100000})
            cases.push_back(optimizer_case({setup_of(uneven, degree, bucket_bytes), bucket_bytes != 100}));
    for (const DType dtype : all_dtypes)
        for (const bool whole : {false, true})
            cases.push_back(
                optimizer_case({setup_of(uneven, whole ? 3 : 8, 1, dtype), whole, whole ? 0.5 : 0.0}));
    cases.push_back(elsewhere_case("states_elsewhere", "optimizer states", 4));
    run_and_check("optimizer", cases);
}

TEST_CASE("05.2 make_sharded_optimizer: an overflow on one rank makes all skip the step", "[05.2]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 3, 8})
        for (const double place :
             {0.0, 13.0}) {  // of 14 and padding: in the first or the last shard with elements
            OptimizerCase one{setup_of(uneven, degree, 1, DType::fp16), true, 0.5, 1024.0, 5};
            one.overflow[{place > 0.0 ? 1 : 0, 1}] = {place};
            cases.push_back(optimizer_case(one));
        }
    run_and_check("optimizer", cases);
}

TEST_CASE("05.2 make_sharded_optimizer: step counts go on from a checkpoint's", "[05.2]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {1, 3}) {
        OptimizerCase one{setup_of(uneven, degree, 1, DType::bf16)};
        one.first_step = 5;
        cases.push_back(optimizer_case(one));
    }
    run_and_check("optimizer", cases);
}

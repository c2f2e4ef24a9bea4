#include "tests/05_zero/elsewhere.hpp"
#include "tests/05_zero/gradients_check.hpp"

using namespace zero_test;

TEST_CASE("05.3 make_sharded_gradients: what each backward pass holds, sends, waits for and adds up",
          "[05.3]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 1, 3, 4, 5, 8})
        for (const std::int64_t bucket_bytes : {1, 100, 100000})
            for (const int gradient_buckets : {1, 2})
                cases.push_back(gradients_case({setup_of(uneven, degree, bucket_bytes), gradient_buckets}));

    GradientsCase unequal{setup_of(uneven, 4, 1), 2};
    unequal.setup.unequal_ranks = true;
    cases.push_back(gradients_case(unequal));
    GradientsCase without_overlap{setup_of(uneven, 3, 1), 2};
    without_overlap.setup.overlap = false;
    cases.push_back(gradients_case(without_overlap));
    cases.push_back(elsewhere_case("gradients_elsewhere", "gradients", 4));
    run_and_check("gradients", cases);
}

TEST_CASE("05.3 make_sharded_gradients: several micro-batches", "[05.3]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 1, 3, 8})
        for (const bool in_shards : {false, true}) {
            GradientsCase one{setup_of(uneven, degree, degree == 3 ? 100 : 1), 1 + degree % 2, in_shards};
            one.setup.micro_batches = degree == 8 ? 2 : 3;
            cases.push_back(gradients_case(one));
        }
    run_and_check("gradients", cases);
}

TEST_CASE("05.3 make_sharded_gradients: sums bit by bit in all dtypes", "[05.3]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const int degree : {3, 8}) {
            GradientsCase one{setup_of(uneven, degree, 1, dtype), 2, degree == 8, false};
            one.setup.micro_batches = 2;
            cases.push_back(gradients_case(one));
        }
    run_and_check("gradients", cases);
}

#include "tests/05_zero/elsewhere.hpp"
#include "tests/05_zero/values_check.hpp"

using namespace zero_test;

namespace {

/// Buckets of equal size, which crossed fetches could mix up.
const Sizes equal{{4, 4}, {8}, {8}, {8}};

ValuesCase case_of(const Sizes& sizes, int degree, std::int64_t bucket_bytes, DType dtype = DType::fp64)
{
    ValuesCase one;
    one.setup = setup_of(sizes, degree, bucket_bytes, dtype);
    return one;
}

}  // namespace

TEST_CASE("05.4 make_sharded_values: what each pass reads, holds, sends and waits for", "[05.4]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 1, 3, 4, 5, 8})
        for (const std::int64_t bucket_bytes : {1, 100, 100000})
            cases.push_back(values_case(case_of(uneven, degree, bucket_bytes)));
    for (const int degree : {2, 3, 4}) cases.push_back(values_case(case_of(equal, degree, 1)));
    for (const DType dtype : all_dtypes) cases.push_back(values_case(case_of(uneven, 3, 1, dtype)));

    ValuesCase unequal = case_of(uneven, 4, 1);
    unequal.setup.unequal_ranks = true;
    cases.push_back(values_case(unequal));
    ValuesCase without_overlap = case_of(uneven, 3, 1);
    without_overlap.setup.overlap = false;
    cases.push_back(values_case(without_overlap));
    ValuesCase later_stage = case_of(uneven, 3, 1);
    later_stage.setup.first_reads = true;
    cases.push_back(values_case(later_stage));
    ValuesCase accumulating = case_of(uneven, 3, 1);
    accumulating.setup.micro_batches = 3;
    cases.push_back(values_case(accumulating));
    run_and_check("values", cases);
}

TEST_CASE("05.4 make_sharded_values: by broadcast, the same values at another time", "[05.4]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 1, 3, 4, 5, 8}) {
        ValuesCase one = case_of(uneven, degree, 1);
        one.broadcast = true;
        cases.push_back(values_case(one));
        one.setup.bucket_bytes = 100000;
        one.setup.overlap = degree % 2 == 0;
        cases.push_back(values_case(one));
    }
    run_and_check("values", cases);
}

TEST_CASE(
    "05.4 make_sharded_values: an evaluation leaves the shards alone, and the next step sees the update",
    "[05.4]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {1, 3}) {
        ValuesCase one = case_of(uneven, degree, 1, DType::bf16);
        one.actions = "evaluate release change evaluate release train change release evaluate release";
        cases.push_back(values_case(one));
    }
    run_and_check("values", cases);
}

TEST_CASE("05.4 make_sharded_values: nothing is kept in ordinary memory instead", "[05.4]")
{
    run_and_check("values", {elsewhere_case("values_elsewhere", "parameters", 4),
                             elsewhere_case("values_elsewhere", "parameters", 1)});
}

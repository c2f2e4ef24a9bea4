// Checks the collective called $COLLECTIVE: the example of lesson 03 or one of the wrong ones beside this
// file.
#include <cstdlib>
#include <map>
#include <string>

#include "lessons/03_collectives/own/my_all_reduce.hpp"
#include "lib/tools/verify/collective.hpp"
#include "tests/lib/collectives/bf16_as_fp16.hpp"
#include "tests/lib/collectives/crash.hpp"
#include "tests/lib/collectives/deadlock.hpp"
#include "tests/lib/collectives/lost_on_one_rank.hpp"
#include "tests/lib/collectives/not_for_short.hpp"
#include "tests/lib/collectives/not_the_last_chunk.hpp"
#include "tests/lib/collectives/of_the_world.hpp"
#include "tests/lib/collectives/one_step_too_many.hpp"
#include "tests/lib/collectives/only_rank_0.hpp"
#include "tests/lib/collectives/other_length.hpp"
#include "tests/lib/collectives/other_order.hpp"
#include "tests/lib/collectives/own_chunk_elsewhere.hpp"
#include "tests/lib/collectives/past_the_end.hpp"
#include "tests/lib/collectives/powers_of_two.hpp"

using namespace collectives_test;

int main(int argc, char** argv)
{
    using Function = std::function<void(Comm&, Buffer)>;
    const std::map<std::string, Function> all_reduces{{"my_all_reduce", my_all_reduce},
                                                      {"bf16_as_fp16", bf16_as_fp16},
                                                      {"crash", crash},
                                                      {"deadlock", deadlock},
                                                      {"lost_on_one_rank", lost_on_one_rank},
                                                      {"not_for_short", not_for_short},
                                                      {"one_step_too_many", one_step_too_many},
                                                      {"other_length", other_length},
                                                      {"other_order", other_order},
                                                      {"past_the_end", past_the_end},
                                                      {"powers_of_two", powers_of_two}};
    const char* set = std::getenv("COLLECTIVE");
    const std::string name = set == nullptr ? "my_all_reduce" : set;
    if (name == "of_the_world")
        return verify_collective(argc, argv, Collective::reduce_scatter, of_the_world);
    if (name == "only_rank_0") return verify_collective(argc, argv, Collective::broadcast, only_rank_0);
    if (name == "own_chunk_elsewhere")
        return verify_collective(argc, argv, Collective::reduce_scatter, own_chunk_elsewhere);
    if (name == "not_the_last_chunk")
        return verify_collective(argc, argv, Collective::all_gather, not_the_last_chunk);
    return verify_collective(argc, argv, Collective::all_reduce, all_reduces.at(name));
}

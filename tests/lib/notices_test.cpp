#include <string>

#include "lib/tools/launch/notices.hpp"
#include "tests/lib/catch.hpp"

using shardlings::NoticeFilter;

namespace {

const std::string rule(74, '-');

std::string box(const std::string& text)
{
    return rule + "\n" + text + "\n" + rule + "\n";
}

const std::string aborted =
    box("MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Errorcode: 1");
const std::string exited =
    box("prterun has exited due to process rank 1 with PID 0 on node a calling\n\"abort\".");
const std::string non_zero =
    box("prterun detected that one or more processes exited with non-zero status,\nthus causing the job");

/// What a filter shows of `text` that arrives in pieces of `size` characters.
std::string filtered(const std::string& text, std::size_t size)
{
    NoticeFilter filter;
    std::string shown;
    for (std::size_t i = 0; i < text.size(); i += size) shown += filter.pass(text.substr(i, size));
    return shown + filter.finish();
}

}  // namespace

TEST_CASE("mpirun's notices about a failed rank are taken out, however the text arrives")
{
    const std::string mpich =
        "Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process "
        "0\n";
    const std::string event = "[warn] Epoll MOD(1) on fd 25 failed. Old events were 6: Bad file descriptor\n";
    const std::string text =
        "rank 1: out of memory\n" + aborted + exited + mpich + event + "more\n" + non_zero + "the end";
    for (const std::size_t size : {1, 2, 7, 74, 75, 76, 4096})
        CHECK(filtered(text, size) == "rank 1: out of memory\nmore\nthe end");
}

TEST_CASE("other boxes and other lines of dashes pass unchanged")
{
    for (const std::string& text :
         {box("There are not enough slots available in the system"), box(""), rule + "\n", rule,
          rule + "\nnever closed\n", std::string("- a list\n--\n---x\n\nAbort\nAbort(1) it\n"),
          "a | " + rule + "\n" + "b\n", box(std::string(5000, 'x'))})
        for (const std::size_t size : {1, 3, 75, 8192}) CHECK(filtered(text, size) == text);
}

TEST_CASE("text that can be no notice is shown at once")
{
    NoticeFilter filter;
    CHECK(filter.pass("step 1") == "step 1");
    CHECK(filter.pass("\rstep 2") == "\rstep 2");
    CHECK(filter.pass("\n" + rule) == "\n");
    CHECK(filter.pass("\nThere are") == "");
    CHECK(filter.pass(" not enough\n" + rule + "\n") == box("There are not enough"));
}

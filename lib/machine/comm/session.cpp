#include "lib/machine/comm/session.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "lib/machine/base/crash.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/state.hpp"

namespace shardlings {

namespace {

/// True for one rank of the job: the first that creates the file. Under a launcher of the user's there is no
/// run folder: what all ranks find wrong rank 0 says, and ends the job before the others' turn.
bool first_to_fail(int rank)
{
    const char* folder = std::getenv("SHARDLINGS_RUN_DIR");
    if (folder == nullptr) {
        usleep(rank == 0 ? 0 : 2'000'000);
        return true;
    }
    const int file = open((std::string(folder) + "/failed").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file >= 0) close(file);
    return file >= 0 || errno != EEXIST;
}

/// Ends srun's processes, before MPI does it with a long message, where they cannot become ranks of one job.
/// The first of them says why.
void check_srun()
{
#ifdef OPEN_MPI
    constexpr bool pmi2_suffices = false;
#else
    constexpr bool pmi2_suffices = true;
#endif
    if (!started_by_srun() || has_process_manager(pmi2_suffices)) return;
    const char* own = std::getenv("SLURM_PROCID");
    if (own == nullptr || std::atoi(own) == 0)
        fmt::print(stderr,
                   "srun has started processes that do not know of each other: add --mpi=pmix to it (srun "
                   "--mpi=list "
                   "names what there is)\n");
    std::fflush(stderr);
    std::_Exit(1);
}

int end_job(const char* message, int rank)
{
    if (first_to_fail(rank)) {
        fmt::print(stderr, "{}\n", message);
        std::fflush(stderr);
    } else {
        usleep(
            1'000'000);  // let the message of the first out; its MPI_Abort normally ends this rank meanwhile
    }
    abort_job();
    return 1;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv)
{
    MPI_Init(&argc, &argv);
    // MPICH reports a failed wait to these, whatever the request's own communicator says.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiSession::~MpiSession()
{
    MPI_Finalize();
}

void MpiSession::wait_for_all() const
{
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

int run_rank(int argc, char** argv, const std::function<int(MpiSession&)>& body)
{
    check_srun();
    MpiSession session(argc, argv);
    report_crashes();
    try {
        return body(session);
    } catch (const std::exception& error) {
        return end_job(error.what(), session.rank());
    }
}

}  // namespace shardlings

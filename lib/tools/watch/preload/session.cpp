// MPI_Init, MPI_Finalize, MPI_Abort.
#include "lib/tools/watch/preload/communicators.hpp"
#include "lib/tools/watch/preload/ends.hpp"

using namespace shardlings::watch;

namespace {

void begin_watching(int threads)
{
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return;  // spawned: its MPI_COMM_WORLD is another one
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > static_cast<int>(most_ranks)) return;
    open_record(rank, size, threads == MPI_THREAD_MULTIPLE);
    if (own.record == nullptr) return;
    if (threads == MPI_THREAD_MULTIPLE) own.depth = 1;  // wrappers of several threads would mix
    add_first_communicators();
    watch_ends();
}

}  // namespace

WATCHED MPI_Init(int* argc, char*** argv)
{
    note_handlers();
    const int result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS) begin_watching(MPI_THREAD_SINGLE);
    return result;
}

WATCHED MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    note_handlers();
    const int result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS) begin_watching(*provided);
    return result;
}

extern "C" [[gnu::visibility("default")]] double MPI_Wtime()
{
    if (watching() && own.record->header.polling != 0) own.record->header.reads_clock = 1;
    return PMPI_Wtime();
}

WATCHED MPI_Finalize()
{
    if (own.record == nullptr) return PMPI_Finalize();
    progress();
    note_modules();
    own.record->header.site = CALL_SITE;
    publish(own.record->header.life, Life::finalizing);
    own.depth = 1;  // nothing after this is of interest
    const int result = PMPI_Finalize();
    publish(own.record->header.life, Life::finalized);
    return result;
}

WATCHED MPI_Abort(MPI_Comm communicator, int code)
{
    if (own.record != nullptr && own.record->header.life == Life::running) {
        own.record->header.code = code;
        note_modules();
        write_stack();
        own.record->header.site = CALL_SITE;
        publish(own.record->header.life, Life::aborted);
    }
    return PMPI_Abort(communicator, code);
}

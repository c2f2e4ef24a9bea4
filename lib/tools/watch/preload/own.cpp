#include "lib/tools/watch/preload/own.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace shardlings::watch {

Own own;

namespace {

/// A job has a name of its own in OpenMPI; MPICH's launcher gives none.
void name_job()
{
    const char* name = std::getenv("PMIX_NAMESPACE");
    std::snprintf(own.job, sizeof own.job, "%.100s", name == nullptr ? "job" : name);
    for (char* letter = own.job; *letter != '\0'; ++letter)
        if (std::isalnum(static_cast<unsigned char>(*letter)) == 0) *letter = '_';
}

void record_path(char (&path)[2 * longest_path + 32], int rank)
{
    std::snprintf(path, sizeof path, "%s/%s.%d", own.folder, own.job, rank);
}

/// The place of a rank's record is free, or its owner has gone: a job before this one.
bool make_room(const char* path)
{
    Header before{};
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return true;
    const bool whole = pread(file, &before, sizeof before, 0) == static_cast<ssize_t>(sizeof before);
    close(file);
    if (whole && before.pid > 0 && kill(before.pid, 0) == 0) return false;
    return unlink(path) == 0;
}

/// Until the rank ends: Linux closes an ending process's files from the last on, and this one is to be closed
/// before those by which a launcher sees the end. Away from the numbers that programs count on.
bool keep_open(int file)
{
    constexpr int far = 500;
    const bool kept = fcntl(file, F_DUPFD_CLOEXEC, far) >= 0;
    if (kept) close(file);
    return kept;
}

bool built_for_this_mpi()
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(version, &length);
#ifdef OPEN_MPI
    return std::strstr(version, "Open MPI") != nullptr;
#else
    return std::strstr(version, "MPICH") != nullptr;
#endif
}

bool is_set(const char* variable)
{
    const char* value = std::getenv(variable);
    return value != nullptr && std::strcmp(value, "1") == 0;
}

int note_module(dl_phdr_info* info, std::size_t, void* data)
{
    Record& record = *static_cast<Record*>(data);
    if (record.header.module_count == most_modules) return 1;
    Module& module = record.modules[record.header.module_count];
    module.bias = info->dlpi_addr;
    if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
        std::snprintf(module.path, sizeof module.path, "%s", info->dlpi_name);
    } else if (record.header.module_count == 0) {  // the program itself comes first, and has no name
        const ssize_t length = readlink("/proc/self/exe", module.path, sizeof module.path - 1);
        module.path[length > 0 ? length : 0] = '\0';
    } else {
        return 0;
    }
    ++record.header.module_count;
    return 0;
}

}  // namespace

void open_record(int rank, int size, bool many_threads)
{
    const char* folder = std::getenv(folder_variable);
    if (folder == nullptr || std::strlen(folder) >= sizeof own.folder || !built_for_this_mpi()) return;
    std::snprintf(own.folder, sizeof own.folder, "%s", folder);
    name_job();
    char path[2 * longest_path + 32];
    record_path(path, rank);
    if (!make_room(path)) return;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    void* memory = MAP_FAILED;
    if (ftruncate(file, sizeof(Record)) == 0)
        memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || !keep_open(file)) close(file);
    if (memory == MAP_FAILED) return;
    auto* record = static_cast<Record*>(memory);
    Header& header = record->header;
    header.pid = getpid();
    header.rank = rank;
    header.world_size = size;
    header.life = Life::running;
    header.unwatched = many_threads ? 1 : 0;
    own.synchronous = is_set(synchronous_variable);
    own.checksums = is_set(checksums_variable);
    header.synchronous = own.synchronous ? 1 : 0;
    header.pending_end = first_request;
    own.record = record;
    note_modules();
    publish(header.magic, record_magic);
}

const Record* map_record(int rank)
{
    char path[2 * longest_path + 32];
    record_path(path, rank);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return nullptr;
    struct stat info = {};
    void* memory = MAP_FAILED;
    if (fstat(file, &info) == 0 && info.st_size == static_cast<off_t>(sizeof(Record)))
        memory = mmap(nullptr, sizeof(Record), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<const Record*>(memory);
}

void note_modules()
{
    own.record->header.module_count = 0;
    dl_iterate_phdr(note_module, own.record);
}

void add_finding(const Finding& finding)
{
    Header& header = own.record->header;
    if (header.finding_count == most_findings) return;
    header.findings[header.finding_count] = finding;
    publish(header.finding_count, header.finding_count + 1);
}

}  // namespace shardlings::watch

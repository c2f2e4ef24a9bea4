// The heap of a driver, counted: malloc of all objects that it is linked from (the linker's --wrap), operator
// new among them. Device memory comes from the aligned operator new, which is left as it is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "lib/tools/grade/driver_frames.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

#include <malloc.h>

#include <atomic>

extern "C" {
// Names that the linker knows: what calls malloc gets __wrap_malloc, and __real_malloc is malloc.
void* __real_malloc(std::size_t size);                             // NOLINT(bugprone-reserved-identifier)
void* __real_calloc(std::size_t count, std::size_t size);          // NOLINT(bugprone-reserved-identifier)
void* __real_realloc(void* memory, std::size_t size);              // NOLINT(bugprone-reserved-identifier)
void __real_free(void* memory);                                    // NOLINT(bugprone-reserved-identifier)
void* __wrap_malloc(std::size_t size);                             // NOLINT(bugprone-reserved-identifier)
void* __wrap_calloc(std::size_t count, std::size_t size);          // NOLINT(bugprone-reserved-identifier)
void* __wrap_realloc(void* memory, std::size_t size);              // NOLINT(bugprone-reserved-identifier)
void __wrap_free(void* memory);                                    // NOLINT(bugprone-reserved-identifier)
void* __real___cxa_allocate_exception(std::size_t size) noexcept;  // NOLINT(bugprone-reserved-identifier)
void* __wrap___cxa_allocate_exception(std::size_t size) noexcept;  // NOLINT(bugprone-reserved-identifier)
}

namespace {

std::atomic<std::int64_t> in_use{0};

void count(void* memory, int sign)
{
    if (memory == nullptr) return;
    in_use += sign * static_cast<std::int64_t>(malloc_usable_size(memory));
    if (sign > 0) grade::heap_has_grown();
}

}  // namespace

void* __wrap_malloc(std::size_t size)
{
    void* memory = __real_malloc(size);
    count(memory, 1);
    return memory;
}

void* __wrap_calloc(std::size_t count_of, std::size_t size)
{
    void* memory = __real_calloc(count_of, size);
    count(memory, 1);
    return memory;
}

void* __wrap_realloc(void* memory, std::size_t size)
{
    count(memory, -1);
    void* moved = __real_realloc(memory, size);
    count(moved != nullptr ? moved : memory, 1);
    return moved;
}

void __wrap_free(void* memory)
{
    count(memory, -1);
    __real_free(memory);
}

/// What is thrown lies in memory of the C++ library's, who also gives it back: counted for good, if it is
/// more than a message needs.
void* __wrap___cxa_allocate_exception(std::size_t size) noexcept
{
    constexpr std::size_t of_a_message = 1024;
    void* memory = __real___cxa_allocate_exception(size);
    if (size > of_a_message) {
        in_use += static_cast<std::int64_t>(size);
        grade::heap_has_grown();
    }
    return memory;
}

void* operator new(std::size_t size)
{
    void* memory = std::malloc(size > 0 ? size : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void* operator new[](std::size_t size)
{
    return operator new(size);
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

void operator delete[](void* memory, std::size_t) noexcept
{
    std::free(memory);
}

std::int64_t grade::heap_in_use()
{
    return in_use;
}

#else

std::int64_t grade::heap_in_use()
{
    return 0;
}

#endif

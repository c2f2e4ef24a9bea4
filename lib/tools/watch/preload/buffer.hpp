// A message's place in the program's memory, and how it is seen that the program uses it too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/tools/watch/preload/mpi.hpp"

namespace shardlings::watch {

/// `count` elements of a type, wherever that has its bytes. It keeps a type of its own: the program may free
/// its type before the message has ended. Empty when there are no bytes, or none that can be looked at.
class Buffer {
  public:
    Buffer() = default;
    Buffer(const void* memory, int count, MPI_Datatype type);
    ~Buffer();
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;

    bool empty() const { return count_ == 0; }
    /// A hash of the bytes, never 0.
    std::uint64_t sum() const;
    /// Its memory is there; not known, and taken for there, of a type with gaps.
    bool is_mapped() const;
    /// Somewhere between the first and the last byte of both.
    bool overlaps(const Buffer& other) const;

    /// Memory for as many bytes as there are between the first and the last; null when there is not so much.
    struct Free {
        void operator()(char* memory) const;
    };
    using Copy = std::unique_ptr<char, Free>;
    Copy make_copy() const;
    /// What MPI has to be given instead of the program's address to mean the copy.
    void* address_in(const Copy& copy) const;
    void copy_to(const Copy& copy) const;
    void copy_from(const Copy& copy) const;

  private:
    std::uintptr_t begin() const;
    void move_elements(std::uintptr_t from, std::uintptr_t to) const;
    template <class Use>
    void for_pieces(std::uintptr_t memory, Use use) const;

    std::uintptr_t memory_ = 0;  // 0: MPI_BOTTOM; the addresses are in the type
    long count_ = 0;
    MPI_Datatype type_{};
    bool owns_type_ = false;
    bool in_one_piece_ = false;
    std::size_t size_ = 0;  // of an element
    MPI_Aint extent_ = 0;
    MPI_Aint first_ = 0;    // of its first byte, from its address
    std::size_t span_ = 0;  // from the first byte of all to the last
};

}  // namespace shardlings::watch

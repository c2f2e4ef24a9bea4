#include "lib/tools/watch/preload/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace shardlings::watch {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
#ifdef OPEN_MPI
constexpr bool packs_at_bottom = true;
#else
constexpr bool packs_at_bottom = false;  // MPICH's MPI_Pack refuses MPI_BOTTOM
#endif
constexpr std::size_t most_bytes_of_element = std::size_t{1} << 30U;  // MPI_Pack counts in int

/// Of bytes that come in pieces.
class Hash {
  public:
    void add(const char* bytes, std::size_t length)
    {
        std::size_t at = 0;
        for (; at + sizeof lanes_ <= length; at += sizeof lanes_)
            for (std::size_t lane = 0; lane < 4; ++lane) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes + at + 8 * lane, sizeof word);
                lanes_[lane] = (lanes_[lane] ^ word) * 0x9E37'79B9'7F4A'7C15U;
                lanes_[lane] ^= lanes_[lane] >> 32U;
            }
        for (; at < length; ++at)
            lanes_[0] = (lanes_[0] ^ static_cast<unsigned char>(bytes[at])) * 0x0000'0100'0000'01B3U;
    }
    std::uint64_t value() const { return (lanes_[0] ^ lanes_[1] * 3 ^ lanes_[2] * 5 ^ lanes_[3] * 7) | 1U; }

  private:
    std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

bool is_predefined(MPI_Datatype type)
{
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

char* pointer(std::uintptr_t address)
{
    return reinterpret_cast<char*>(address);
}

}  // namespace

Buffer::Buffer(const void* memory, int count, MPI_Datatype type)
{
    if (count <= 0 || type == MPI_DATATYPE_NULL) return;
    MPI_Count size = 0;
    MPI_Aint lower = 0;
    MPI_Aint true_extent = 0;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0 ||
        PMPI_Type_get_extent(type, &lower, &extent_) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &first_, &true_extent) != MPI_SUCCESS)
        return;
    size_ = static_cast<std::size_t>(size);
    in_one_piece_ = first_ == 0 && true_extent == size && (extent_ == size || count == 1);
    if ((memory == nullptr && (first_ == 0 || !packs_at_bottom)) ||
        (!in_one_piece_ && size_ > most_bytes_of_element))
        return;
    owns_type_ = !is_predefined(type);
    type_ = type;
    if (owns_type_ && PMPI_Type_dup(type, &type_) != MPI_SUCCESS) {
        owns_type_ = false;
        return;
    }
    memory_ = reinterpret_cast<std::uintptr_t>(memory);
    count_ = count;
    span_ = static_cast<std::size_t>(true_extent + (count_ - 1) * std::abs(extent_));
}

Buffer::~Buffer()
{
    if (owns_type_) PMPI_Type_free(&type_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept
{
    std::swap(memory_, other.memory_);
    std::swap(count_, other.count_);
    std::swap(type_, other.type_);
    std::swap(owns_type_, other.owns_type_);
    std::swap(in_one_piece_, other.in_one_piece_);
    std::swap(size_, other.size_);
    std::swap(extent_, other.extent_);
    std::swap(first_, other.first_);
    std::swap(span_, other.span_);
    return *this;
}

std::uintptr_t Buffer::begin() const
{
    const MPI_Aint back = std::min<MPI_Aint>(extent_, 0) * (count_ - 1);
    return memory_ + static_cast<std::uintptr_t>(first_ + back);
}

template <class Use>
void Buffer::for_pieces(std::uintptr_t memory, Use use) const
{
    const long most = std::max<long>(1, static_cast<long>(piece_bytes / size_));
    int bytes = 0;
    PMPI_Pack_size(static_cast<int>(std::min(most, count_)), type_, MPI_COMM_SELF, &bytes);
    std::vector<char> packed(static_cast<std::size_t>(bytes));
    for (long at = 0; at < count_; at += most) {
        const int elements = static_cast<int>(std::min(most, count_ - at));
        const auto offset = static_cast<std::uintptr_t>(at * extent_);
        int used = 0;
        PMPI_Pack(pointer(memory + offset), elements, type_, packed.data(), bytes, &used, MPI_COMM_SELF);
        use(packed.data(), used, offset, elements);
    }
}

std::uint64_t Buffer::sum() const
{
    Hash hash;
    if (in_one_piece_)
        hash.add(pointer(memory_), span_);
    else
        for_pieces(memory_, [&](const char* packed, int bytes, std::uintptr_t, int) {
            hash.add(packed, static_cast<std::size_t>(bytes));
        });
    return hash.value();
}

bool Buffer::is_mapped() const
{
    if (!in_one_piece_) return true;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t first = memory_ / page * page;
    return msync(pointer(first), memory_ + span_ - first, MS_ASYNC) == 0;  // fails where nothing is mapped
}

bool Buffer::overlaps(const Buffer& other) const
{
    return begin() < other.begin() + other.span_ && other.begin() < begin() + span_;
}

void Buffer::Free::operator()(char* memory) const
{
    std::free(memory);
}

Buffer::Copy Buffer::make_copy() const
{
    return Copy(static_cast<char*>(std::malloc(span_)));
}

void* Buffer::address_in(const Copy& copy) const
{
    return pointer(reinterpret_cast<std::uintptr_t>(copy.get()) + (memory_ - begin()));
}

void Buffer::copy_to(const Copy& copy) const
{
    move_elements(memory_, reinterpret_cast<std::uintptr_t>(address_in(copy)));
}

void Buffer::copy_from(const Copy& copy) const
{
    move_elements(reinterpret_cast<std::uintptr_t>(address_in(copy)), memory_);
}

void Buffer::move_elements(std::uintptr_t from, std::uintptr_t to) const
{
    if (in_one_piece_) {
        std::memcpy(pointer(to), pointer(from), span_);
        return;
    }
    for_pieces(from, [&](const char* packed, int bytes, std::uintptr_t offset, int elements) {
        int used = 0;
        PMPI_Unpack(packed, bytes, &used, pointer(to + offset), elements, type_, MPI_COMM_SELF);
    });
}

}  // namespace shardlings::watch

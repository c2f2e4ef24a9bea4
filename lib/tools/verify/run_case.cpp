#include "lib/tools/verify/run_case.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "lib/machine/tensor/tensor.hpp"

namespace shardlings::verify {

namespace {

// Odd, so that the values begin where no allocation does.
constexpr std::int64_t elements_before = 65;
constexpr std::int64_t elements_behind = 64;
constexpr std::byte guard{0x40};

DeviceOptions options_of(int rank, int ranks)
{
    DeviceOptions options;
    options.rank = rank;
    options.topology.devices_per_node = ranks;
    return options;
}

DeviceOptions strict(DeviceOptions options)
{
    options.poison = true;
    options.synchronous = true;
    return options;
}

/// The values of a rank between elements that nobody may write.
class GuardedBuffer {
  public:
    explicit GuardedBuffer(const Case& one)
        : size_(size_of(one.dtype)),
          all_(static_cast<std::size_t>(elements_before + one.length + elements_behind) * size_, guard),
          values_{all_.data() + elements_before * static_cast<std::int64_t>(size_), one.length, one.dtype}
    {
    }
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

    Buffer values() const { return values_; }
    void fill(const std::vector<double>& numbers) const
    {
        if (!numbers.empty()) convert(buffer_of(std::span(numbers)), values_);
    }
    std::vector<std::byte> copy() const { return {values_.data, values_.data + values_.bytes()}; }
    std::int64_t written_before() const
    {
        for (std::int64_t i = elements_before; i > 0; --i)
            if (changed(elements_before - i)) return i;
        return 0;
    }
    std::int64_t written_behind() const
    {
        for (std::int64_t i = elements_behind; i > 0; --i)
            if (changed(elements_before + values_.count + i - 1)) return i;
        return 0;
    }

  private:
    bool changed(std::int64_t element) const
    {
        const std::byte* begin = all_.data() + static_cast<std::size_t>(element) * size_;
        return std::any_of(begin, begin + size_, [](std::byte x) { return x != guard; });
    }

    std::size_t size_;
    std::vector<std::byte> all_;
    Buffer values_;
};

/// The first element of `run` in which the two differ, or -1.
std::int64_t first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b, DType dtype,
                              const Run& run)
{
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const auto begin = a.begin() + run.offset * size;
    const auto end = begin + run.count * size;
    const auto at = std::mismatch(begin, end, b.begin() + run.offset * size).first;
    return at == end ? -1 : (at - a.begin()) / size;
}

Buffer bytes_of(Observed& observed)
{
    return {reinterpret_cast<std::byte*>(&observed), sizeof(Observed), DType::byte};
}

ConstBuffer bytes_of(const Observed& observed)
{
    return {reinterpret_cast<const std::byte*>(&observed), sizeof(Observed), DType::byte};
}

}  // namespace

Group::Group(const Case& one, int world_rank, int world_size)
    : device_(strict(options_of(world_rank, world_size))),
      world_(Comm::world(device_)),
      comm_(world_.split(group_rank_of(one, world_rank, world_size) < 0 ? 1 : 0,
                         one.members == Members::first ? world_rank : -world_rank))
{
}

Runner::Runner(Collective kind, Function function, int rank, int size, double case_seconds)
    : kind_(kind),
      function_(std::move(function)),
      device_(options_of(rank, size)),
      judges_(Comm::world(device_)),
      watch_(case_seconds)
{
}

void Runner::call(const Case& one, int rank, Comm& comm, Buffer values)
{
    try {
        for (int i = 0; i < one.calls; ++i) function_(comm, values, one.root);
    } catch (const std::exception& error) {
        const std::string message =
            fmt::format("WRONG: {}: rank {} threw: {}", describe(kind_, one, size()), rank, error.what());
        // MPICH may lose what a rank prints just before it ends the job.
        if (const char* folder = std::getenv("SHARDLINGS_RUN_DIR"))
            std::ofstream(std::string(folder) + "/error") << message << '\n';
        throw Error(message);
    }
}

RankResult Runner::run_member(const Case& one, int rank, Group& group)
{
    const GuardedBuffer buffer(one);
    const std::vector<double> input = Contributions(kind_, one).input(rank);
    buffer.fill(input);
    Device& device = group.device();
    const double begin = device.clock().now();
    const Traffic::Count sent = device.traffic().total;
    device.reset_peaks();

    watch_.enter();
    call(one, rank, group.comm(), buffer.values());
    RankResult result{{}, buffer.copy()};
    Observed& observed = result.observed;
    observed.messages = device.traffic().total.messages - sent.messages;
    observed.bytes = device.traffic().total.bytes - sent.bytes;
    observed.peak = device.memory().peak;
    observed.kept = device.memory().current;
    observed.seconds = device.clock().now() - begin;
    observed.other_again = -1;
    if (one.values == Values::rounded) {
        buffer.fill(input);
        call(one, rank, group.comm(), buffer.values());
        const Run defined = kind_ == Collective::reduce_scatter ? chunk(one, rank) : Run{0, one.length};
        observed.other_again = first_difference(result.values, buffer.copy(), one.dtype, defined);
    }
    watch_.leave();
    observed.before = buffer.written_before();
    observed.behind = buffer.written_behind();
    return result;
}

std::vector<RankResult> Runner::gather(const Case& one, const RankResult& own)
{
    const int rank = group_rank_of(one, judges_.rank(), size());
    std::vector<RankResult> results;
    if (judges_.rank() != 0) {
        if (rank < 0) return results;
        judges_.send(bytes_of(own.observed), 0);
        judges_.send(buffer_of(std::span(own.values)), 0);
        return results;
    }
    const std::size_t bytes = static_cast<std::size_t>(one.length) * size_of(one.dtype);
    for (int from = 0; from < one.ranks; ++from) {
        RankResult& result = results.emplace_back();
        const int world_rank = world_rank_of(one, from, size());
        if (world_rank == 0) {
            result = own;
            continue;
        }
        result.values.resize(bytes);
        judges_.recv(bytes_of(result.observed), world_rank);
        judges_.recv(buffer_of(std::span(result.values)), world_rank);
    }
    return results;
}

std::vector<RankResult> Runner::run(const Case& one, Group& group)
{
    const int rank = group_rank_of(one, judges_.rank(), size());
    // Nobody runs ahead: when a rank is stuck or fails, every rank is in this case.
    judges_.barrier();
    watch_.start(describe(kind_, one, size()), judges_.rank(), rank, one.ranks);
    RankResult own;
    if (rank >= 0) own = run_member(one, rank, group);
    std::vector<RankResult> results = gather(one, own);
    judges_.barrier();
    watch_.stop();
    return results;
}

bool Runner::agree(bool right)
{
    std::byte verdict{right};
    const Buffer message{&verdict, 1, DType::byte};
    for (int to = 1; judges_.rank() == 0 && to < size(); ++to) judges_.send(message, to);
    if (judges_.rank() != 0) judges_.recv(message, 0);
    return verdict != std::byte{0};
}

}  // namespace shardlings::verify

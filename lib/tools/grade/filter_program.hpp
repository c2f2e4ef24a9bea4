// Filters of system calls, as seccomp(2) takes them. For Linux on x86-64 and aarch64.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace grade {

#ifdef __x86_64__
inline constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
inline constexpr std::uint32_t other_convention = 0x40000000;  // bit of x32's call numbers
#else
inline constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
inline constexpr std::uint32_t other_convention = 0;
#endif

inline constexpr std::uint32_t allow = SECCOMP_RET_ALLOW;
inline constexpr std::uint32_t end_process = SECCOMP_RET_KILL_PROCESS;

constexpr std::uint32_t fail_with(int error)
{
    return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

inline constexpr std::size_t call_number = offsetof(seccomp_data, nr);

/// The low word of a call's argument: little endian.
constexpr std::size_t argument(std::size_t number)
{
    return offsetof(seccomp_data, args) + number * sizeof(std::uint64_t);
}

/// Writes BPF: a step looks at the loaded word, and the next follows when it does not apply.
class FilterProgram {
  public:
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)); }
    void differs_gives(std::uint32_t value, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
        give(action);
    }
    void equal_gives(std::uint32_t value, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
        give(action);
    }
    void any_bit_gives(std::uint32_t bits, std::uint32_t action)
    {
        add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
        give(action);
    }
    void give(std::uint32_t action) { add(BPF_RET | BPF_K, 0, 0, action); }
    /// The steps of `then` only when the word is `value`.
    void when_equal(std::uint32_t value, const FilterProgram& then)
    {
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<std::uint8_t>(then.steps_.size()), value);
        steps_.insert(steps_.end(), then.steps_.begin(), then.steps_.end());
    }
    /// A call in the convention of another architecture ends the process; then the call's number is loaded.
    void begin()
    {
        load(offsetof(seccomp_data, arch));
        differs_gives(own_architecture, end_process);
        load(call_number);
        if (other_convention != 0) any_bit_gives(other_convention, end_process);
    }
    const std::vector<sock_filter>& steps() const { return steps_; }
    std::string bytes() const
    {
        return {reinterpret_cast<const char*>(steps_.data()), steps_.size() * sizeof(sock_filter)};
    }

  private:
    void add(int code, std::uint8_t when_true, std::uint8_t when_false, std::uint32_t value)
    {
        steps_.push_back({static_cast<std::uint16_t>(code), when_true, when_false, value});
    }
    std::vector<sock_filter> steps_;
};

}  // namespace grade

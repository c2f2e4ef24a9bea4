#include "lib/tools/grade/allowed_symbols.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "lib/machine/base/error.hpp"

namespace grade {

namespace {

/// Reads the names of a mangled symbol, of the Itanium C++ ABI.
class Mangled {
  public:
    explicit Mangled(std::string_view text) : left_(text) {}

    std::vector<std::string> scopes()
    {
        if (!skip("_Z")) return {};
        for (const std::string_view special : {"TV", "TI", "TS", "TT", "GV", "GR", "TH", "TW"}) skip(special);
        skip_thunk();
        while (skip("Z")) {  // what is local to a function belongs where the function does
        }
        std::vector<std::string> names;
        if (skip("N")) {
            while (!left_.empty() && std::string_view("rVKRO").find(left_.front()) != std::string_view::npos)
                left_.remove_prefix(1);
            read_standard(names);
            read_names(names);
        } else if (!read_standard(names)) {
            return {};
        } else {
            read_names(names);
        }
        return names;
    }

  private:
    bool skip(std::string_view prefix)
    {
        if (!left_.starts_with(prefix)) return false;
        left_.remove_prefix(prefix.size());
        return true;
    }
    /// Th16_, Tv0_n24_: what a call by another base adds.
    void skip_thunk()
    {
        if (!left_.starts_with("Th") && !left_.starts_with("Tv")) return;
        const std::size_t numbers = left_[1] == 'h' ? 1 : 2;
        for (std::size_t i = 0; i < numbers; ++i)
            if (const auto end = left_.find('_'); end != left_.npos) left_.remove_prefix(end + 1);
    }
    bool read_standard(std::vector<std::string>& names)
    {
        for (const std::string_view known : {"St", "Sa", "Sb", "Ss", "Si", "So", "Sd"})
            if (skip(known)) {
                names.emplace_back("std");
                return true;
            }
        return false;
    }
    void read_names(std::vector<std::string>& names)
    {
        while (!left_.empty() && std::isdigit(static_cast<unsigned char>(left_.front())) != 0) {
            std::size_t length = 0;
            while (!left_.empty() && std::isdigit(static_cast<unsigned char>(left_.front())) != 0) {
                length = 10 * length + static_cast<std::size_t>(left_.front() - '0');
                left_.remove_prefix(1);
            }
            if (length > left_.size()) return;
            names.emplace_back(left_.substr(0, length));
            left_.remove_prefix(length);
            while (skip("B")) {  // an ABI tag
                std::vector<std::string> tag;
                read_names(tag);
            }
        }
    }

    std::string_view left_;
};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 50> c_functions{
    "memcpy",  "memmove",  "memset",   "memcmp",    "memchr",  "bcmp",    "strlen",  "strcmp",  "strncmp",
    "strchr",  "strstr",   "qsort",    "bsearch",   "abs",     "labs",    "llabs",   "div",     "ldiv",
    "lldiv",   "rand",     "srand",    "printf",    "puts",    "putchar", "fprintf", "fputs",   "fputc",
    "fwrite",  "fflush",   "snprintf", "vsnprintf", "stdout",  "stderr",  "strtol",  "strtod",  "strtoul",
    "strtoll", "strtoull", "strtof",   "strtold",   "atoi",    "atof",    "toupper", "tolower", "isdigit",
    "isalpha", "isspace",  "clock",    "time",      "vfprintf"};

/// What calls of the functions above become: with _FORTIFY_SOURCE, which Ubuntu's compiler defines by itself,
/// they are given the size of what they write to; since glibc 2.38 numbers are read as C23 has it; clang's
/// ctype.
constexpr std::array<std::string_view, 13> c_functions_by_other_names{
    "__memcpy_chk",     "__memmove_chk",     "__memset_chk",   "__printf_chk",    "__fprintf_chk",
    "__snprintf_chk",   "__vsnprintf_chk",   "__vfprintf_chk", "__isoc23_strtol", "__isoc23_strtoul",
    "__isoc23_strtoll", "__isoc23_strtoull", "__ctype_b_loc"};

constexpr std::array<std::string_view, 12> of_the_compiler{
    "__gxx_personality_v0", "_Unwind_Resume", "__libc_single_threaded", "_GLOBAL_OFFSET_TABLE_",
    "__dso_handle",         "__cxa_atexit",   "__stack_chk_fail",       "__assert_fail",
    "__dynamic_cast",       "__tls_get_addr", "__errno_location",       "__cxa_pure_virtual"};

constexpr std::array<std::string_view, 47> mathematics{
    "acos", "acosh", "asin",  "asinh",  "atan",  "atan2",  "atanh",  "cbrt",  "ceil",      "copysign",
    "cos",  "cosh",  "erf",   "erfc",   "exp",   "exp2",   "expm1",  "fabs",  "fdim",      "floor",
    "fma",  "fmax",  "fmin",  "fmod",   "frexp", "hypot",  "ilogb",  "ldexp", "lgamma",    "llround",
    "log",  "log10", "log1p", "log2",   "logb",  "lrint",  "lround", "modf",  "nearbyint", "nextafter",
    "pow",  "rint",  "round", "scalbn", "sin",   "sincos", "sinh"};
constexpr std::array<std::string_view, 12> more_mathematics{"sqrt",   "tan",       "tanh",  "tgamma",
                                                            "trunc",  "llrint",    "nan",   "remainder",
                                                            "remquo", "roundeven", "exp10", "scalbln"};

bool is_mathematics(std::string_view name)
{
    const auto known = [](std::string_view one) {
        return is_one_of(mathematics, one) || is_one_of(more_mathematics, one);
    };
    const bool has_type = !name.empty() && (name.back() == 'f' || name.back() == 'l');
    return known(name) || (has_type && known(name.substr(0, name.size() - 1)));
}

/// Of namespace shardlings: what makes and ends a rank, looks into Comm, or rewinds what a device counted.
constexpr std::array<std::string_view, 20> machine_insides{"peaks_forgotten",
                                                           "MpiSession",
                                                           "run_rank",
                                                           "abort_job",
                                                           "check_mpi",
                                                           "mpi_type",
                                                           "report_crashes",
                                                           "find_hosts",
                                                           "with_hosts",
                                                           "spend_computed_time",
                                                           "started_by_launcher",
                                                           "started_by_srun",
                                                           "memory_changed",
                                                           "computed",
                                                           "message_sent",
                                                           "message_waited",
                                                           "Traffic",
                                                           "State",
                                                           "has_process_manager",
                                                           "stack_of"};
constexpr std::array<std::string_view, 4> device_insides{"reset_peaks", "count", "release",
                                                         "out_of_memory_message"};

std::string why_not_of_the_machine(const std::string& symbol, const std::vector<std::string>& scopes)
{
    constexpr const char* why = "belongs to the machine's insides, which the lessons' headers do not offer";
    if (scopes.size() > 1 && is_one_of(machine_insides, scopes[1])) return why;
    if (scopes.size() > 2 && is_one_of(machine_insides, scopes[2])) return why;
    if (symbol.starts_with("_ZN10shardlings6DeviceC") || symbol.starts_with("_ZN10shardlings6DeviceD"))
        return "makes a device of one's own: memory and time are counted on the one that a function is given";
    if (symbol.starts_with("_ZN10shardlings4Comm5worldE"))
        return "is the driver's: messages go through the Comm that a function is given";
    if (scopes.size() > 2 && scopes[1] == "Device" && is_one_of(device_insides, scopes[2])) return why;
    return {};
}

/// Of namespace std: files, threads and what else reaches out of the program, or past the counted heap.
constexpr std::array<std::string_view, 24> standard_insides{"thread",
                                                            "this_thread",
                                                            "jthread",
                                                            "filesystem",
                                                            "random_device",
                                                            "condition_variable",
                                                            "basic_filebuf",
                                                            "basic_ifstream",
                                                            "basic_ofstream",
                                                            "basic_fstream",
                                                            "__basic_file",
                                                            "pmr",
                                                            "set_terminate",
                                                            "set_new_handler",
                                                            "set_unexpected",
                                                            "exit",
                                                            "abort",
                                                            "at_quick_exit",
                                                            "__future_base",
                                                            "mutex",
                                                            "timed_mutex",
                                                            "system",
                                                            "basic_file_stdio",
                                                            "stop_token"};

constexpr std::array<std::string_view, 5> files_of_fmt{"file", "buffered_file", "ostream", "pipe",
                                                       "getpagesize"};

std::string why_not_standard(const std::vector<std::string>& scopes)
{
    for (const std::string& scope : scopes)
        if (is_one_of(standard_insides, scope))
            return fmt::format(
                "std::{} reaches out of the program: a submission has its arguments and the "
                "messages of its Comm",
                scope);
    return {};
}

}  // namespace

std::vector<std::string> scopes_of(const std::string& symbol)
{
    return Mangled(symbol).scopes();
}

std::string why_forbidden(const std::string& symbol, const std::set<std::string>& lessons)
{
    constexpr const char* not_offered =
        "is not among what the lesson, the machine and the standard library offer";
    if (!symbol.starts_with("_Z")) {
        if (symbol.starts_with("MPI_") || symbol.starts_with("PMPI_") || symbol.starts_with("ompi_") ||
            symbol.starts_with("MPIR_"))
            return "belongs to MPI, which Comm alone speaks: its messages are what is counted";
        if (symbol.starts_with("__cxa_") && symbol != "__cxa_thread_atexit") return {};
        if (is_one_of(c_functions, symbol) || is_one_of(c_functions_by_other_names, symbol) ||
            is_one_of(of_the_compiler, symbol) || is_mathematics(symbol))
            return {};
        return not_offered;
    }
    constexpr std::array<std::string_view, 8> heap{"_Znwm",
                                                   "_Znam",
                                                   "_ZdlPv",
                                                   "_ZdaPv",
                                                   "_ZdlPvm",
                                                   "_ZdaPvm",
                                                   "_ZnwmRKSt9nothrow_t",
                                                   "_ZnamRKSt9nothrow_t"};
    if (is_one_of(heap, symbol)) return {};
    if (symbol.starts_with("_Znw") || symbol.starts_with("_Zna") || symbol.starts_with("_Zdl") ||
        symbol.starts_with("_Zda"))
        return "is memory such as devices are made of: it comes from Device::allocate or a Tensor, which "
               "count it";
    const std::vector<std::string> scopes = scopes_of(symbol);
    if (scopes.empty())  // the typeinfo of int, float*, …
        return symbol.starts_with("_ZTI") || symbol.starts_with("_ZTS") ? "" : not_offered;
    if (scopes.front() == "shardlings") return why_not_of_the_machine(symbol, scopes);
    if (scopes.front() == "std") return why_not_standard(scopes);
    if (scopes.front() == "fmt" &&
        is_one_of(files_of_fmt, scopes[std::min<std::size_t>(2, scopes.size() - 1)]))
        return not_offered;
    for (const std::string_view known : {"fmt", "Eigen", "__gnu_cxx", "__cxxabiv1"})
        if (scopes.front() == known) return {};
    return lessons.contains(scopes.front()) ? "" : not_offered;
}

}  // namespace grade

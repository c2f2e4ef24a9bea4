#include "lib/tools/grade/verdict.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/grade/allowed_symbols.hpp"
#include "lib/tools/grade/object_file.hpp"
#include "lib/tools/launch/launch.hpp"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr const char* split = "_ZNK10shardlings4Comm5splitEii";  // Comm::split
constexpr std::uint64_t most_variables = 4096;  // bytes; the references have none but flags and names

constexpr std::size_t most_found = 3;  // that are told

/// The C++ name, of which nobody reads a thousand characters.
std::string shown_name(const std::string& symbol)
{
    constexpr std::size_t most = 160;
    const std::string name = demangled(symbol);
    return name.size() > most ? name.substr(0, most) + "…" : name;
}

std::string line_of(const std::string& place)
{
    return place.empty() ? "" : place + ": ";
}

/// "a, b and 3 more"
std::string listed(const std::set<std::string>& names)
{
    constexpr std::size_t shown = 4;
    std::string text;
    std::size_t i = 0;
    for (const std::string& name : names)
        if (i++ < shown) text += (text.empty() ? "" : ", ") + name;
    return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::set<std::string> defined_by(const ObjectFile& object)
{
    std::set<std::string> names;
    for (const Symbol& symbol : object.symbols)
        if (symbol.defined && symbol.strong) names.insert(symbol.name);
    return names;
}

std::set<std::string> used_by(const ObjectFile& object)
{
    std::set<std::string> names;
    for (const Symbol& symbol : object.symbols)
        if (!symbol.defined) names.insert(symbol.name);
    return names;
}

/// One object under examination, and what is found.
class Examination {
  public:
    Examination(const ObjectFile& object, const ObjectFile& reference, const Trusted& trusted)
        : object_(object),
          may_define_(defined_by(reference)),
          used_by_reference_(used_by(reference)),
          trusted_(trusted)
    {
    }

    std::vector<std::string> found()
    {
        look_at_symbols();
        for (const auto& [why, uses] : uses_)
            found_.push_back(fmt::format("{}uses {}: it {}", line_of(uses.place), listed(uses.names), why));
        look_at_sections();
        look_at_code();
        return found_;
    }

  private:
    void look_at_symbols()
    {
        for (std::size_t i = 0; i < object_.symbols.size(); ++i) {
            const Symbol& symbol = object_.symbols[i];
            if (symbol.chosen_at_run)
                found_.push_back(symbol.name +
                                 " is an indirect function, chosen by code that runs before main");
            else if (symbol.defined && symbol.data && object_.sections[symbol.section].executable)
                found_.push_back(
                    fmt::format("{} is data in a section of machine code: code that no compiler has made",
                                shown_name(symbol.name)));
            else if (!symbol.defined && !symbol.name.empty())
                look_at_use(i);
            else if (symbol.strong || symbol.weak)
                look_at_definition(symbol);
        }
    }

    void look_at_use(std::size_t i)
    {
        const std::string& name = object_.symbols[i].name;
        std::string why = why_forbidden(name, trusted_.namespaces);
        if (name == split && !used_by_reference_.contains(split))
            why = "makes groups, of which no message and nothing counted tells: this exercise needs none";
        if (why.empty()) return;
        static constexpr std::array<std::string_view, 4> of_malloc{"malloc", "calloc", "realloc", "free"};
        // What Eigen's headers do is not the submission's doing, and is counted.
        if (std::ranges::find(of_malloc, name) != of_malloc.end() && used_by_eigen(i)) return;
        Uses& uses = uses_[why];
        if (uses.names.empty()) uses.place = object_.first_use(i);
        uses.names.insert(shown_name(name));
    }

    /// Every use is on a line of Eigen's memory functions. Of more uses than matrices in an exercise that is
    /// not looked at.
    bool used_by_eigen(std::size_t symbol) const
    {
        constexpr auto most_uses = 200;
        if (std::ranges::count(object_.references, symbol, &Reference::symbol) > most_uses) return false;
        return std::ranges::all_of(object_.references, [&](const Reference& one) {
            return one.symbol != symbol || object_.place_of(one.section, one.offset).starts_with("Memory.h:");
        });
    }

    void look_at_definition(const Symbol& symbol)
    {
        if (symbol.strong && may_define_.contains(symbol.name)) return;
        const std::vector<std::string> scopes = scopes_of(symbol.name);
        const auto of = [&](std::string_view space) { return !scopes.empty() && scopes.front() == space; };
        // Not among what templates and inline functions leave in any object: their statics, helpers of no
        // namespace, names of types.
        const std::string& name = symbol.name;
        const bool is_left = name.starts_with("_ZT") || name.starts_with("DW.ref.") ||
                             name.starts_with("_ZZ") || name.starts_with("_ZGVZ") ||
                             (name.starts_with("_Z") && name.size() > 2 && name[2] >= '0' && name[2] <= '9');
        const bool is_plain = scopes.empty() && !is_left;
        if (symbol.weak && !is_plain && !of("nlohmann") && !of("grade") && !trusted_.wanted.contains(name))
            return;
        const std::string place =
            found_.size() < most_found ? object_.place_of(symbol.section, symbol.offset) : "";
        found_.push_back(
            fmt::format("{}defines {}, which other code would use: only what the exercise declares may be "
                        "defined, helpers go into an anonymous namespace",
                        line_of(place), shown_name(symbol.name)));
    }

    void look_at_sections()
    {
        std::uint64_t variables = 0;
        for (std::size_t i = 0; i < object_.sections.size(); ++i) {
            const Section& section = object_.sections[i];
            const std::string_view name = section.name;
            for (const std::string_view before_main :
                 {".init_array", ".preinit_array", ".fini_array", ".ctors", ".dtors", ".init", ".fini"})
                if (name.starts_with(before_main) && !is_of_iostream(i)) refuse_early_code(i);
            if (section.executable && (section.writable || !name.starts_with(".text")))
                found_.push_back(fmt::format("has a section {} of machine code", name));
            if (section.writable && !name.starts_with(".data.rel.ro") && !name.starts_with(".init_array"))
                variables += section.bytes;
        }
        if (variables > most_variables)
            found_.push_back(
                fmt::format("has static variables of {}: a device's memory is what its budget "
                            "counts; at most {} may lie beside it",
                            shardlings::format_bytes(variables), shardlings::format_bytes(most_variables)));
    }

    /// A function that a section of pointers names.
    struct Named {
        std::size_t section;
        std::uint64_t begin;
        std::uint64_t end;
    };

    std::vector<Named> named_by(std::size_t section) const
    {
        std::vector<Named> functions;
        for (const Reference& one : object_.references) {
            if (one.section != section) continue;
            const Symbol& symbol = object_.symbols[one.symbol];
            Named named{symbol.section, symbol.offset + static_cast<std::uint64_t>(one.beyond), 0};
            for (const Symbol& function : object_.symbols)
                if (function.defined && function.section == named.section && function.offset == named.begin)
                    named.end = std::max(named.end, function.offset + function.bytes);
            functions.push_back(named);
        }
        return functions;
    }

    /// The functions that the section names use nothing but what constructs std::ios_base::Init.
    bool is_of_iostream(std::size_t section) const
    {
        static constexpr std::array<std::string_view, 5> harmless{"_ZNSt8ios_base4InitC1Ev",
                                                                  "_ZNSt8ios_base4InitD1Ev", "__cxa_atexit",
                                                                  "__dso_handle", "_GLOBAL_OFFSET_TABLE_"};
        const std::vector<Named> functions = named_by(section);
        if (functions.empty())
            return object_.sections[section].name.starts_with(".rela") ||
                   object_.sections[section].bytes == 0;
        return std::ranges::all_of(functions, [&](const Named& function) {
            // Alone in its section, so that nothing is called without a reference.
            constexpr std::uint64_t padding = 16;
            const bool alone = function.begin == 0 && function.end > 0 &&
                               object_.sections[function.section].bytes < function.end + padding;
            return alone && std::ranges::all_of(object_.references, [&](const Reference& one) {
                       if (one.section != function.section || one.offset < function.begin ||
                           one.offset >= function.end)
                           return true;
                       const Symbol& used = object_.symbols[one.symbol];
                       return std::ranges::find(harmless, used.name) != harmless.end() ||
                              object_.sections[used.section].name == ".bss";
                   });
        });
    }

    void refuse_early_code(std::size_t section)
    {
        std::string place;
        for (const Named& function : named_by(section))
            if (place.empty()) place = object_.place_of(function.section, function.begin);
        found_.push_back(
            fmt::format("{}code that runs before main or after it (section {}): a constructor, or a static "
                        "object that has one, which is memory beside the device's too",
                        line_of(place), object_.sections[section].name));
    }

    void look_at_code()
    {
        using namespace std::string_view_literals;
        const bool may_have = std::ranges::any_of(object_.sections, [](const Section& section) {
            return section.executable &&
                   std::ranges::any_of(
                       std::array{"\x0f\x05"sv, "\x0f\x34"sv, "\xcd\x80"sv},
                       [&](std::string_view call) { return section.code.find(call) != section.code.npos; });
        });
        if (!may_have) return;
        constexpr double seconds = 30.0;
        const std::string shell =
            R"(objdump -d --no-show-raw-insn "$0" | grep -m1 -E '\s(syscall|sysenter|int +\$0x80)\b')";
        if (!shardlings::run_captured({"sh", "-c", shell, object_.path.string()}, {}, seconds).output.empty())
            found_.emplace_back("makes system calls in machine code (syscall, by asm)");
    }

    struct Uses {
        std::string place;            // of the first
        std::set<std::string> names;  // upper case comes first: MPI_Allreduce before ompi_mpi_double
    };

    const ObjectFile& object_;
    std::map<std::string, Uses> uses_;  // by why they are refused
    std::set<std::string> may_define_;
    std::set<std::string> used_by_reference_;
    const Trusted& trusted_;
    std::vector<std::string> found_;
};

}  // namespace

Trusted trusted_objects(const fs::path& objects)
{
    Trusted trusted;
    for (const char* part : {"solutions", "lib/machine", "lib/tools/grade", "tests"})
        for (const auto& entry : fs::recursive_directory_iterator(objects / part)) {
            const bool is_test = std::string_view(part) == "tests" && entry.path().filename() != "driver.o";
            if (entry.path().extension() != ".o" || is_test) continue;
            const ObjectFile object = read_object(entry.path());
            trusted.wanted.merge(used_by(object));
            if (std::string_view(part) != "solutions") continue;
            for (const std::string& name : defined_by(object))
                if (const std::vector<std::string> scopes = scopes_of(name); scopes.size() > 1)
                    trusted.namespaces.insert(scopes.front());
        }
    return trusted;
}

std::string objections(const fs::path& object, const fs::path& reference, const Trusted& trusted)
{
    const ObjectFile examined = read_object(object);
    std::vector<std::string> found = Examination(examined, read_object(reference), trusted).found();
    const std::size_t all = found.size();
    if (all > most_found) {
        found.resize(most_found);
        found.push_back(fmt::format("and {} more like these", all - most_found));
    }
    std::string text;
    for (const std::string& one : found) text += (text.empty() ? "" : "\n") + one;
    return text;
}

}  // namespace grade

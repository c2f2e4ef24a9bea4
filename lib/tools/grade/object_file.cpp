#include "lib/tools/grade/object_file.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "lib/machine/base/error.hpp"
#include "lib/tools/launch/launch.hpp"

namespace grade {

using shardlings::check;

namespace {

/// An open object file, closed with this.
class OpenElf {
  public:
    explicit OpenElf(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        elf_version(EV_CURRENT);
        elf_ = file_ < 0 ? nullptr : elf_begin(file_, ELF_C_READ, nullptr);
        GElf_Ehdr header;
        check(elf_ != nullptr && gelf_getehdr(elf_, &header) != nullptr && header.e_type == ET_REL,
              "{} is no object file", path.string());
    }
    ~OpenElf()
    {
        elf_end(elf_);
        if (file_ >= 0) close(file_);
    }
    OpenElf(const OpenElf&) = delete;
    OpenElf& operator=(const OpenElf&) = delete;
    Elf* get() const { return elf_; }
    std::string text(std::size_t table, std::size_t offset) const
    {
        const char* found = elf_strptr(elf_, table, offset);
        return found == nullptr ? "" : found;
    }

  private:
    int file_;
    Elf* elf_ = nullptr;
};

Section read_section(const OpenElf& elf, Elf_Scn* section, const GElf_Shdr& header, std::size_t names)
{
    Section one{elf.text(names, header.sh_name),
                header.sh_size,
                (header.sh_flags & SHF_WRITE) != 0,
                (header.sh_flags & SHF_EXECINSTR) != 0,
                {}};
    if (one.executable && header.sh_type != SHT_NOBITS)
        if (const Elf_Data* data = elf_getdata(section, nullptr); data != nullptr && data->d_buf != nullptr)
            one.code.assign(static_cast<const char*>(data->d_buf), data->d_size);
    return one;
}

void read_symbols(const OpenElf& elf, Elf_Scn* section, const GElf_Shdr& header, ObjectFile& object)
{
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (data == nullptr || gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
        const int binding = GELF_ST_BIND(symbol.st_info);
        Symbol one;
        one.name = elf.text(header.sh_link, symbol.st_name);
        one.defined = symbol.st_shndx != SHN_UNDEF;
        one.strong = binding == STB_GLOBAL;
        one.weak = binding == STB_WEAK || binding == STB_GNU_UNIQUE;
        one.chosen_at_run = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
        one.data = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT;
        one.section = symbol.st_shndx < SHN_LORESERVE ? symbol.st_shndx : 0;
        one.offset = symbol.st_value;
        one.bytes = symbol.st_size;
        object.symbols.push_back(std::move(one));
    }
}

void read_references(Elf_Scn* section, const GElf_Shdr& header, ObjectFile& object)
{
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Rela entry;
        if (data == nullptr || gelf_getrela(data, static_cast<int>(i), &entry) == nullptr) return;
        object.references.push_back(
            {header.sh_info, entry.r_offset, GELF_R_SYM(entry.r_info), entry.r_addend});
    }
}

}  // namespace

ObjectFile read_object(const std::filesystem::path& path)
{
    const OpenElf elf(path);
    std::size_t names = 0;
    check(elf_getshdrstrndx(elf.get(), &names) == 0, "{} has no names of sections", path.string());
    ObjectFile object{path, {{}}, {}, {}};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr header;
        check(gelf_getshdr(section, &header) != nullptr, "{} is damaged", path.string());
        object.sections.push_back(read_section(elf, section, header, names));
        if (header.sh_type == SHT_SYMTAB) read_symbols(elf, section, header, object);
        GElf_Shdr target;
        Elf_Scn* changed = header.sh_type == SHT_RELA ? elf_getscn(elf.get(), header.sh_info) : nullptr;
        if (changed != nullptr && gelf_getshdr(changed, &target) != nullptr &&
            (target.sh_flags & SHF_ALLOC) != 0)
            read_references(section, header, object);
    }
    for (Reference& one : object.references)
        check(one.symbol < object.symbols.size() && one.section < object.sections.size(), "{} is damaged",
              path.string());
    for (Symbol& one : object.symbols)
        if (one.section >= object.sections.size()) one.section = 0;
    return object;
}

std::string ObjectFile::place_of(std::size_t section, std::uint64_t offset) const
{
    constexpr double seconds = 10.0;
    const shardlings::ProcessResult found =
        shardlings::run_captured({"addr2line", "-f", "-C", "-e", path.string(), "-j", sections[section].name,
                                  fmt::format("{:#x}", offset)},
                                 {}, seconds);
    const std::size_t line_end = found.output.find('\n');
    if (found.exit_code != 0 || line_end == std::string::npos) return {};
    std::string function = found.output.substr(0, line_end);
    std::string place = found.output.substr(line_end + 1);
    place = place.substr(0, place.find_first_of("\n "));
    if (place.empty() || place.front() == '?') return {};
    place = std::filesystem::path(place).filename().string();
    return function.front() == '?' ? place : fmt::format("{} ({})", place, function);
}

std::string ObjectFile::first_use(std::size_t symbol) const
{
    for (const Reference& one : references)
        if (one.symbol == symbol)
            if (std::string place = place_of(one.section, one.offset); !place.empty()) return place;
    return {};
}

std::string demangled(const std::string& symbol)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name != nullptr ? name.get() : symbol;
}

}  // namespace grade

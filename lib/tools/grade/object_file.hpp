// What an object file defines, wants, and is made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace grade {

struct Section {
    std::string name;
    std::uint64_t bytes = 0;
    bool writable = false;
    bool executable = false;
    std::string code;  // the contents of an executable section
};

struct Symbol {
    std::string name;
    bool defined = false;
    bool strong = false;         // seen by other objects, and one of it only
    bool weak = false;           // seen by other objects, one of several
    bool chosen_at_run = false;  // an indirect function
    bool data = false;           // a variable or constant
    std::size_t section = 0;     // of ObjectFile::sections
    std::uint64_t offset = 0;    // in that section
    std::uint64_t bytes = 0;
};

/// A place that a symbol's address is put into.
struct Reference {
    std::size_t section = 0;
    std::uint64_t offset = 0;
    std::size_t symbol = 0;   // of ObjectFile::symbols
    std::int64_t beyond = 0;  // bytes that are added to the address
};

struct ObjectFile {
    std::filesystem::path path;
    std::vector<Section> sections;
    std::vector<Symbol> symbols;
    std::vector<Reference> references;  // from sections that are loaded

    /// "ring.cpp:17 (in devices::sum_around_the_ring)", by the debug information; empty when there is none.
    std::string place_of(std::size_t section, std::uint64_t offset) const;
    /// The place of the first reference to a symbol, which follows "in "; empty when there is none.
    std::string first_use(std::size_t symbol) const;
};

/// Error when it is no relocatable object of this machine.
ObjectFile read_object(const std::filesystem::path& path);

/// The C++ name that a symbol stands for, or the symbol.
std::string demangled(const std::string& symbol);

}  // namespace grade

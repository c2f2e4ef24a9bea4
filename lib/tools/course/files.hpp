// Small text files: read whole, written whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// The contents of a file. Error naming it when it cannot be read.
std::string read_file(const std::filesystem::path& file);

/// Writes a file under another name in the same folder and renames it, so that a reader, or a crash, finds
/// either what was there before or all of the new text. Makes the folder. Error when it cannot be written.
void write_file(const std::filesystem::path& file, std::string_view text);

/// The same, but leaves a file that holds this text already, and its time, alone. True when it was written.
bool write_if_changed(const std::filesystem::path& file, std::string_view text);

/// The lines of a text, without their newlines.
std::vector<std::string> lines_of(std::string_view text);

/// The texts in a row, `separator` between them.
std::string joined(const std::vector<std::string>& texts, std::string_view separator);

/// The text without white space at its ends.
std::string trimmed(std::string_view text);

/// A line of at most `columns` bytes, the end replaced by "…" when it was longer (never within a character).
std::string shortened(std::string_view line, std::size_t columns);

/// FNV-1a of the text, 64 bits, as 16 hexadecimal digits: tells whether a file has changed.
std::string hash_of(std::string_view text);

}  // namespace shardlings

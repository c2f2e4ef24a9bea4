// What a process that is killed leaves behind, found again by the name of who made it.
#pragma once

#include <filesystem>
#include <string>

namespace shardlings {

/// "machine-1234": this machine and this process. Processes of several machines may share a folder.
std::string maker();

/// Whether `name` is the maker() of a process of this machine that has ended.
bool has_ended(const std::string& name);

/// A new folder in `place`, with its maker in its name. Error when it cannot be made.
std::filesystem::path new_folder(const std::filesystem::path& place);

/// Removes this user's folders of new_folder() in `place` whose makers have ended.
void remove_left_behind(const std::filesystem::path& place);

}  // namespace shardlings

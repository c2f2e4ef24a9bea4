// What may be in the object file of a submission.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace grade {

/// The namespaces in which the objects of the references, in `solutions`, define something.
std::set<std::string> namespaces_of(const std::filesystem::path& solutions);

/// The first few things in a student's object that no solution of the exercise needs and that could reach
/// past what is measured, a line each with the symbol, the source line and why; empty when there are none:
///   – definitions that other objects would use, beyond those of the reference's object;
///   – functions and objects of others beyond what why_forbidden() lets pass;
///   – code that runs before main or at its end, but for <iostream>'s own; system calls in machine code;
///   – variables of more than a few KiB in all, in which a device's memory could be hidden.
/// `reference` is the reference's object of this exercise, `lessons` what namespaces_of() gives.
std::string objections(const std::filesystem::path& object, const std::filesystem::path& reference,
                       const std::set<std::string>& lessons);

}  // namespace grade

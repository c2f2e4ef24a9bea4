// What may be in the object file of a submission.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace grade {

/// What the objects hold that a submission's is linked with.
struct Trusted {
    std::set<std::string> namespaces;  // in which the references define something
    std::set<std::string> wanted;  // what some object uses, and no header defines: it is looked for elsewhere
};
/// `objects` is the build's folder of them.
Trusted trusted_objects(const std::filesystem::path& objects);

/// The first few things in a student's object that no solution of the exercise needs and that could reach
/// past what is measured, a line each with the symbol, the source line and why; empty when there are none:
///   – definitions that other objects would use, beyond those of the reference's object; weak ones, as
///   templates
///     and inline functions leave, only of what other objects take from a library (Trusted::wanted);
///   – functions and objects of others beyond what why_forbidden() lets pass; Comm::split where the reference
///     does without;
///   – code that runs before main or at its end, but for <iostream>'s own; system calls in machine code;
///   – variables of more than a few KiB in all, in which a device's memory could be hidden.
/// `reference` is the reference's object of this exercise.
std::string objections(const std::filesystem::path& object, const std::filesystem::path& reference,
                       const Trusted& trusted);

}  // namespace grade

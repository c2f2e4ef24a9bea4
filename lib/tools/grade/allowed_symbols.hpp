// Which functions and objects of others a submission may use.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace grade {

/// The namespaces that a C++ symbol's name begins with: {"shardlings", "Comm", "rank"} of
/// shardlings::Comm::rank() const; that of a vtable, a typeinfo or a thunk are those of its class. Empty for
/// a name that is not C++'s or in no namespace.
std::vector<std::string> scopes_of(const std::string& symbol);

/// Why code may not use `symbol`; empty when it may: the lessons' functions (namespaces `lessons`), the
/// machine but for its insides, the standard library but for files, threads and the system, fmt, Eigen, and
/// of C the mathematics and what copies, compares and searches memory and text.
std::string why_forbidden(const std::string& symbol, const std::set<std::string>& lessons);

}  // namespace grade

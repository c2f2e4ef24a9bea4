#include "lib/machine/base/error.hpp"

namespace shardlings {

void not_implemented(std::string_view part, std::source_location where)
{
    throw NotImplemented(fmt::format("not implemented: {} ({}:{})", part, where.file_name(), where.line()));
}

}  // namespace shardlings

#include "lib/tools/launch/hostfile.hpp"

#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string_view>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

constexpr int most_slots = 4096;
constexpr std::string_view slots_word = "slots=";

/// The words of a line that are not in a comment.
std::vector<std::string> words_of(const std::string& line)
{
    std::istringstream text(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    return words;
}

int parse_slots(std::string_view text, const std::string& place)
{
    int slots = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), slots);
    check(result.ec == std::errc{} && result.ptr == text.data() + text.size() && slots >= 1 &&
              slots <= most_slots,
          "{}: '{}' is not a number of ranks: expected 1 to {}", place, text, most_slots);
    return slots;
}

Host parse_host(const std::vector<std::string>& words, const std::string& place)
{
    const std::string& first = words.front();
    const auto colon = first.find(':');
    const bool has_number = colon != std::string::npos && colon == first.rfind(':');  // else an IPv6 address
    Host host{first.substr(0, has_number ? colon : std::string::npos), 1};
    if (has_number) host.slots = parse_slots(std::string_view(first).substr(colon + 1), place);
    for (const std::string& word : std::vector(words.begin() + 1, words.end())) {
        if (word.starts_with("max_slots=") || word.starts_with("max-slots=")) continue;
        check(word.starts_with(slots_word),
              "{}: '{}' is not understood: expected a host and how many ranks it takes, "
              "as in 'alpha slots=4'",
              place, word);
        host.slots = parse_slots(std::string_view(word).substr(slots_word.size()), place);
    }
    return host;
}

bool is_known(const std::string& name)
{
    addrinfo* found = nullptr;
    const int code = getaddrinfo(name.c_str(), nullptr, nullptr, &found);
    if (code == 0) freeaddrinfo(found);
    return code == 0;
}

}  // namespace

std::vector<Host> read_hostfile(const std::string& file)
{
    errno = 0;
    std::ifstream in(file);
    check(in.is_open(), "cannot read the hostfile {}: {}", file, std::strerror(errno));
    std::vector<Host> hosts;
    std::string line;
    errno = 0;
    for (int number = 1; std::getline(in, line); ++number) {
        const std::vector<std::string> words = words_of(line);
        if (words.empty()) continue;
        const Host host = parse_host(words, fmt::format("{}, line {}", file, number));
        const auto known = std::ranges::find(hosts, host.name, &Host::name);
        if (known == hosts.end())
            hosts.push_back(host);
        else
            known->slots += host.slots;
    }
    check(errno == 0, "cannot read the hostfile {}: {}", file, std::strerror(errno));
    check(!hosts.empty(), "the hostfile {} names no host: expected lines as in 'alpha slots=4'", file);
    return hosts;
}

void check_hosts(const std::vector<Host>& hosts, int ranks, const std::string& file)
{
    for (const Host& host : hosts)
        check(is_known(host.name),
              "{}: there is no host '{}' that this machine knows: check its name, or give its "
              "address",
              file, host.name);
    const int slots = std::accumulate(hosts.begin(), hosts.end(), 0,
                                      [](int sum, const Host& host) { return sum + host.slots; });
    check(slots >= ranks,
          "{} has place for {} (slots=), the layout needs {}: raise the numbers of slots, or add "
          "hosts",
          file, counted(slots, "rank"), ranks);
}

}  // namespace shardlings

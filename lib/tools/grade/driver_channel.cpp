#include "lib/tools/grade/driver_channel.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/comm.hpp"
#include "lib/tools/grade/driver_confine.hpp"
#include "lib/tools/grade/driver_frames.hpp"
#include "lib/tools/grade/protocol.hpp"

namespace grade {

namespace fs = std::filesystem;
using shardlings::MpiSession;

namespace {

class Files : public Channel {
  public:
    Files(std::string folder, int rank) : folder_(std::move(folder)), rank_(rank) { note_progress(folder_); }
    json read_cases() override
    {
        std::ifstream file(folder_ + "/" + cases_file, std::ios::binary);
        json cases = json::from_cbor(file);
        for (json& one : cases) one["inputs"] = one.at("ranks").at(static_cast<std::size_t>(rank_));
        return cases;
    }
    void begin_case(std::size_t, const shardlings::Device&) override {}
    void begin_measuring() override {}
    void end_measuring() override {}
    void result(std::size_t index, const json& result) override
    {
        const std::vector<std::uint8_t> bytes = json::to_cbor(result);
        const std::uint64_t head[] = {index, bytes.size()};
        std::ofstream file(results_file(folder_, rank_), std::ios::binary | std::ios::app);
        file.write(reinterpret_cast<const char*>(head), sizeof head);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        note_progress(folder_);
    }

  private:
    std::string folder_;
    int rank_;
};

class Pipes : public Channel {
  public:
    Pipes(std::string folder, const MpiSession& session) : folder_(std::move(folder)), session_(session)
    {
        open_frames(frames_pipe(folder_, session_.rank()));
    }
    json read_cases() override
    {
        std::ifstream pipe(inputs_pipe(folder_, session_.rank()), std::ios::binary);
        std::uint64_t size = 0;
        std::uint64_t first_frame = 0;
        pipe.read(reinterpret_cast<char*>(&size), sizeof size);
        pipe.read(reinterpret_cast<char*>(&first_frame), sizeof first_frame);
        std::vector<std::uint8_t> bytes(pipe ? size : 0);
        pipe.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        shardlings::check(static_cast<bool>(pipe), "rank {} was given no inputs", session_.rank());
        json cases = json::from_cbor(bytes);
        number_frames_from(first_frame);
        // Nobody's code runs before every rank has taken its own.
        meet_all();
        confine();
        session_.wait_for_all();
        return cases;
    }
    void begin_case(std::size_t index, const shardlings::Device& device) override
    {
        send_frame({.kind = FrameKind::case_begins, .index = index});
        observe(&device);
    }
    void begin_measuring() override { send_measuring(FrameKind::measuring); }
    void end_measuring() override { send_measuring(FrameKind::measured); }
    void result(std::size_t index, const json& result) override
    {
        observe(nullptr);
        const std::vector<std::uint8_t> bytes = json::to_cbor(result);
        send_frame({.kind = FrameKind::result, .index = index, .size = bytes.size()});
        send_bytes(bytes);
    }

  private:
    /// A message to and from every rank: MPI makes a connection when it is used first.
    void meet_all() const
    {
        shardlings::DeviceOptions options;
        options.rank = session_.rank();
        options.topology.devices_per_node = session_.size();
        shardlings::Device device(options);
        shardlings::Comm world = shardlings::Comm::world(device);
        std::array<std::byte, 2> bytes{};
        for (int step = 1; step < session_.size(); ++step)
            world.sendrecv({bytes.data(), 1, shardlings::DType::byte},
                           (session_.rank() + step) % session_.size(),
                           {bytes.data() + 1, 1, shardlings::DType::byte},
                           (session_.rank() + session_.size() - step) % session_.size());
    }

    std::string folder_;
    const MpiSession& session_;
};

}  // namespace

std::unique_ptr<Channel> open_channel(const std::string& folder, const MpiSession& session)
{
    if (fs::is_fifo(frames_pipe(folder, session.rank()))) return std::make_unique<Pipes>(folder, session);
    return std::make_unique<Files>(folder, session.rank());
}

}  // namespace grade

#include "lib/tools/train/traced.hpp"

#include <utility>

namespace shardlings {

namespace {

class Traced : public Module {
  public:
    Traced(Device& device, std::unique_ptr<Module> inner, std::string name, int chunk)
        : device_(device), inner_(std::move(inner)), name_(std::move(name)), chunk_(chunk)
    {
    }

    std::vector<Parameter*> parameters() override { return inner_->parameters(); }
    bool backward_reads_values() const override { return inner_->backward_reads_values(); }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        return timed("forward", batch, [&] { return inner_->forward(batch, std::move(x), saved); });
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        return timed("backward", batch, [&] { return inner_->backward(batch, std::move(dy), saved); });
    }

  private:
    template <class Pass>
    Tensor timed(const char* kind, const MicroBatch& batch, Pass pass)
    {
        const double begin = device_.clock().now();
        const double flops = device_.flops();
        Tensor result = pass();
        device_.record({fmt::format("{} {}", kind, name_), kind, begin, device_.clock().now(),
                        device_.flops() - flops, 0, -1, static_cast<int>(batch.index), Stream::compute,
                        chunk_});
        return result;
    }

    Device& device_;
    std::unique_ptr<Module> inner_;
    std::string name_;
    int chunk_;
};

}  // namespace

std::unique_ptr<Module> make_traced(Device& device, std::unique_ptr<Module> inner, std::string name,
                                    int chunk)
{
    return std::make_unique<Traced>(device, std::move(inner), std::move(name), chunk);
}

}  // namespace shardlings

// Virtual time: what a device's work and messages would take on the simulated cluster.
#pragma once

#include <algorithm>

namespace shardlings {

/// Seconds since the device started. It only moves forward, and only by what the device does, so it is the
/// same on every run and every machine.
class Clock {
  public:
    double now() const { return now_; }
    void advance(double seconds) { now_ += seconds; }
    /// Idles until `time`, if that is still to come.
    void wait_until(double time)
    {
        idle_ += std::max(0.0, time - now_);
        now_ = std::max(now_, time);
    }
    /// Seconds spent waiting, for messages and for other streams, of all those so far.
    double idle() const { return idle_; }

  private:
    double now_ = 0.0;
    double idle_ = 0.0;
};

}  // namespace shardlings

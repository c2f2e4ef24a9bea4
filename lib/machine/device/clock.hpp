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
    void wait_until(double time) { now_ = std::max(now_, time); }

  private:
    double now_ = 0.0;
};

}  // namespace shardlings

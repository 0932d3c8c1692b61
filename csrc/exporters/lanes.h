// Lanes of a track: in each of them intervals nest, or follow one another. Viewers draw a lane as a
// stack of slices, and cannot draw two that overlap in part.
//
//   lane 0   A----------------A  C---C        B overlaps A in part: the first lane that has room
//               D---D                         for it takes it.
//   lane 1         B-----------------B
#ifndef RLSCOPE_EXPORTERS_LANES_H_
#define RLSCOPE_EXPORTERS_LANES_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace rlscope::exporters {

// Intervals contain their start and not their end: one of no length at the end of another one comes
// after it.
class Lanes {
 public:
  // The lane of the next interval. They come by start; if several have one start, the outer ones
  // come first. Before that, close(lane, end) is called for each interval of the lane that ends
  // before it.
  template <class Close>
  size_t Add(int64_t start_ns, int64_t end_ns, Close close) {
    for (size_t lane = 0;; ++lane) {
      if (lane == lanes_.size()) lanes_.emplace_back();
      std::vector<int64_t>& ends = lanes_[lane].ends_ns;
      while (!ends.empty() && ends.back() <= start_ns) CloseLast(lane, close);
      if (!ends.empty() && ends.back() < end_ns) continue;
      ends.push_back(end_ns);
      return lane;
    }
  }

  // Closes all that is open. The next interval is one of another track.
  template <class Close>
  void Finish(Close close) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      while (!lanes_[lane].ends_ns.empty()) CloseLast(lane, close);
    }
    lanes_.clear();
  }

 private:
  struct Lane {
    std::vector<int64_t> ends_ns;  // of what is open; of the innermost last
  };

  template <class Close>
  void CloseLast(size_t lane, Close close) {
    const int64_t end_ns = lanes_[lane].ends_ns.back();
    lanes_[lane].ends_ns.pop_back();
    close(lane, end_ns);
  }

  std::vector<Lane> lanes_;
};

}  // namespace rlscope::exporters

#endif  // RLSCOPE_EXPORTERS_LANES_H_

// Replays the fuzzer's corpus and damages good files at random:
//   reader_replay CORPUS [COUNT [SEED]]
//   reader_replay --write CORPUS        writes the good files there, as seeds for the fuzzer
//
// For each of COUNT truncations and bit flips (1,000 unless said otherwise) every frame that the
// damage did not touch must be found again, and nothing may crash. Exit 1 on the first that is
// not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "good_files.h"
#include "read_everything.h"
#include "trace/read/frame_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace rlscope::trace {
namespace {

using Bytes = std::vector<uint8_t>;

struct FrameSpan {
  uint64_t begin;
  uint64_t end;
};

std::vector<FrameSpan> FramesOf(const Bytes& bytes) {
  std::vector<FrameSpan> frames;
  FrameReader reader(bytes.data(), bytes.size());
  FrameView frame;
  while (reader.Next(&frame)) {
    frames.push_back({frame.offset, frame.offset + sizeof(FrameHeader) + frame.payload.size});
  }
  return frames;
}

// Whether every frame whose bytes are the same in `damaged` is found in it.
bool RecoversIntactFrames(const Bytes& good, const Bytes& damaged) {
  const std::vector<FrameSpan> found = FramesOf(damaged);
  for (const FrameSpan& frame : FramesOf(good)) {
    if (frame.end > damaged.size() ||
        memcmp(&good[frame.begin], &damaged[frame.begin], frame.end - frame.begin) != 0) {
      continue;
    }
    const bool recovered = std::any_of(found.begin(), found.end(), [&](const FrameSpan& other) {
      return other.begin == frame.begin && other.end == frame.end;
    });
    if (!recovered) return false;
  }
  return true;
}

// A truncation, up to 20 flipped bits, or both.
Bytes Damage(const Bytes& good, std::mt19937_64* random) {
  Bytes damaged = good;
  const uint64_t way = (*random)() % 3;
  if (way != 1) damaged.resize((*random)() % (good.size() + 1));
  if (way == 0 || damaged.empty()) return damaged;
  for (uint64_t flips = 1 + (*random)() % 20; flips > 0; --flips) {
    const uint64_t bit = (*random)() % (8 * damaged.size());
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  return damaged;
}

int ReplayCorpus(const std::string& corpus) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const Bytes bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++files;
  }
  return files;
}

bool DamageGoodFiles(uint64_t count, uint64_t seed) {
  const auto good_files = GoodFiles();
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    const auto& [name, good] = good_files[i % good_files.size()];
    const Bytes damaged = Damage(good, &random);
    LLVMFuzzerTestOneInput(damaged.data(), damaged.size());
    if (RecoversIntactFrames(good, damaged)) continue;
    fprintf(stderr, "%s: an intact frame was lost (seed %llu, case %llu)\n", name.c_str(),
            static_cast<unsigned long long>(seed), static_cast<unsigned long long>(i));
    return false;
  }
  return true;
}

int WriteCorpus(const std::string& corpus) {
  for (const auto& [name, bytes] : GoodFiles()) {
    if (bytes.size() > 16384) continue;  // the fuzzer works best with small ones
    std::ofstream(corpus + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "--write") == 0) return WriteCorpus(argv[2]);
  if (argc < 2) {
    fprintf(stderr, "usage: reader_replay CORPUS [COUNT [SEED]]\n");
    return 2;
  }
  const uint64_t count = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000;
  const uint64_t seed = argc > 3 ? strtoull(argv[3], nullptr, 10) : 1;
  const int files = ReplayCorpus(argv[1]);
  if (files == 0) {
    fprintf(stderr, "reader_replay: nothing in %s\n", argv[1]);
    return 1;
  }
  if (!DamageGoodFiles(count, seed)) return 1;
  printf("%d corpus files, %llu damaged files: every intact frame recovered\n", files,
         static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace rlscope::trace

int main(int argc, char** argv) { return rlscope::trace::Main(argc, argv); }

#include "cupti/replay.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "cupti/layouts.h"

namespace simcuda {
namespace {

struct Replay {
  bool on = false;
  std::vector<Bytes> records;
  std::map<uint32_t, size_t> bytes;  // by kind
};

uint32_t KindOf(const Bytes& record) {
  uint32_t kind;
  memcpy(&kind, record.data(), sizeof(kind));
  return kind;
}

Bytes FromHexadecimal(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A name lives as long as the process.
void SetName(const std::string& name, Bytes* record) {
  const char* text = strdup(name.c_str());
  memcpy(record->data() + kernel::kName.offset, &text, sizeof(text));
}

Replay Read() {
  Replay replay;
  const char* path = getenv("SIMCUPTI_REPLAY");
  if (path == nullptr || *path == '\0') return replay;
  replay.on = true;
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {  // what the program did, to be compared
    fprintf(stderr, "simcuda: SIMCUPTI_REPLAY=%s: expected a records.txt of witness.c\n", path);
    _Exit(1);
  }
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string bytes, name;
    words >> bytes >> name;
    Bytes record = FromHexadecimal(bytes);
    if (!name.empty()) SetName(name, &record);
    replay.bytes[KindOf(record)] = record.size();
    replay.records.push_back(std::move(record));
  }
  return replay;
}

Replay& TheReplay() {
  static Replay& replay = *new Replay(Read());
  return replay;
}

}  // namespace

bool Replays() { return TheReplay().on; }

std::vector<Bytes> TakeReplayed() { return std::exchange(TheReplay().records, {}); }

size_t ReplayedBytes(uint32_t kind) {
  const auto& bytes = TheReplay().bytes;
  const auto found = bytes.find(kind);
  return found == bytes.end() ? 0 : found->second;
}

}  // namespace simcuda

//===- flags_data.cpp - where batches come from ---------------------------===//

#include "flags.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::run {

/// name=file[,name=file...]; file.npz:member picks a member, a lone file.npz all.
static Status setData(Options &options, const std::string &text) {
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    std::string item = text.substr(start, end - start);
    start = end + 1;
    DataFile file;
    size_t equals = item.find('=');
    if (equals != std::string::npos) {
      file.input = item.substr(0, equals);
      item = item.substr(equals + 1);
    }
    size_t colon = item.rfind(".npz:");
    if (colon != std::string::npos) {
      file.member = item.substr(colon + 5);
      item.resize(colon + 4);
    }
    if (item.empty() || (file.input.empty() && !item.ends_with(".npz")))
      return expected("name=file.npy or file.npz", text);
    file.path = item;
    options.data.push_back(file);
  }
  return {};
}

std::vector<Flag> dataFlags() {
  return {
      {"Data", "data", "NAME=FILE,...",
       ".npy or .npz file of each input; its first dimension runs over\n"
       "batches and wraps round. FILE.npz:MEMBER picks a member; a FILE.npz\n"
       "without NAME serves all inputs that it has members for",
       setData},
  };
}

} // namespace zero::run

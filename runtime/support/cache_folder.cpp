//===- cache_folder.cpp - where Zero caches -------------------------------===//

#include "runtime/support/cache_folder.h"

#include <cstdlib>

namespace zero::rt {

std::string cacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/zero";
  const char *home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/zero" : "";
}

} // namespace zero::rt

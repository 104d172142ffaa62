//===- cache_folder.h - where Zero caches -----------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_CACHE_FOLDER_H
#define RUNTIME_SUPPORT_CACHE_FOLDER_H

#include <string>

namespace zero::rt {

/// The default folder of what zeroc, zero-run and sessions cache: `zero` in $XDG_CACHE_HOME or in
/// $HOME/.cache; empty if neither is an absolute path.
std::string cacheFolder();

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_CACHE_FOLDER_H

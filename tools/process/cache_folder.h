//===- cache_folder.h - where tools cache -----------------------*- C++ -*-===//

#ifndef TOOLS_PROCESS_CACHE_FOLDER_H
#define TOOLS_PROCESS_CACHE_FOLDER_H

#include <string>

namespace zero::process {

/// The default folder of what zeroc and zero-run cache: `zero` in $XDG_CACHE_HOME or in
/// $HOME/.cache; empty if neither is an absolute path.
std::string cacheFolder();

} // namespace zero::process

#endif // TOOLS_PROCESS_CACHE_FOLDER_H

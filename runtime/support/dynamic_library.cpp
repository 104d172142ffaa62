//===- dynamic_library.cpp - load libraries on demand ---------------------===//

#include "runtime/support/dynamic_library.h"

#include <cstdlib>
#include <dlfcn.h>

namespace zero::rt {

/// The first of the source's libraries that can be loaded, or nullptr; `tried` lists the
/// others.
static void *openFirst(const LibrarySource &source, std::string &loaded, std::string &tried) {
  std::vector<const char *> names = source.names;
  if (const char *path = std::getenv(source.variable); path && *path)
    names = {path};
  for (const char *name : names) {
    if (void *handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      loaded = name;
      return handle;
    }
    const char *why = ::dlerror();
    tried += format("%s'%s' (%s)", tried.empty() ? "" : ", ", escape(name).c_str(),
                    why ? escape(why).c_str() : "no reason given");
  }
  return nullptr;
}

Status DynamicLibrary::open(const LibrarySource &source, std::span<const LibrarySymbol> symbols,
                            DynamicLibrary &library) {
  std::string loaded, tried;
  void *handle = openFirst(source, loaded, tried);
  if (!handle)
    return fail(ZERO_RT_NOT_FOUND, "%s was not found: looked for %s; %s, or set %s to its path",
                source.what, tried.c_str(), source.remedy, source.variable);
  for (const LibrarySymbol &symbol : symbols) {
    *symbol.address = ::dlsym(handle, symbol.name);
    if (!*symbol.address && !symbol.isOptional)
      return fail(ZERO_RT_UNSUPPORTED, "%s ('%s') has no function '%s': it is too old", source.what,
                  escape(loaded).c_str(), symbol.name);
  }
  library.loaded = std::move(loaded);
  return {};
}

} // namespace zero::rt

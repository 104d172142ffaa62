//===- format.h - the .zexe file --------------------------------*- C++ -*-===//
//
//   header    one page: magic, version, checksum, sections, ISA features
//   program   executable.proto
//   code      the program's target: an ELF shared object, or images for GPUs
//   data      constants that the program refers to by offset
//   host code of a program for GPUs: an ELF shared object with the kernels of the host, or empty
//
// Each section starts at a multiple of 4096 bytes. The file is little-endian and
// holds no weights: initial values are references.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_FORMAT_FORMAT_H
#define RUNTIME_FORMAT_FORMAT_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/checksum.h"
#include "runtime/support/file.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zero::rt {

inline constexpr char kMagic[8] = {'Z', 'E', 'R', 'O', 'E', 'X', 'E', '\0'};
inline constexpr uint32_t kFormatVersion = 13;
inline constexpr uint64_t kSectionAlignment = 4096;

/// Bytes [offset, offset + size) of the file.
struct Section {
  uint64_t offset;
  uint64_t size;
};

/// The first bytes of a .zexe. `checksum` covers the entire file, with this field as zero.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t checksum;
  uint64_t fileBytes;
  Section program, code, data, hostCode;
  char isa[2048]; ///< features the code needs, separated by spaces, 0-terminated
};
static_assert(sizeof(Header) <= kSectionAlignment);

/// A loaded .zexe. The spans point into the mapped file.
struct Executable {
  MappedFile file;
  proto::Program program;
  std::span<const uint8_t> code;
  std::span<const uint8_t> data;
  std::span<const uint8_t> hostCode;
  std::string isa;

  /// The shared object with all kernels that the cores of the host run.
  std::span<const uint8_t> codeOfHost() const {
    return program.target() == proto::CPU ? code : hostCode;
  }
};

/// Writes `path` by a temporary and a rename. `isa` lists the CPU features that the code of the
/// host needs, in LLVM's names ("avx2 fma avx512f"). Returns an error message, empty on success.
std::string writeExecutable(const std::string &path, const proto::Program &program,
                            std::string_view code, std::string_view data, std::string_view isa,
                            std::string_view hostCode = {});

/// Maps and checks `path`. An error names the reason: not a .zexe, another version, truncated,
/// wrong checksum, a feature that this CPU lacks, unreadable tables. The code section is not mapped
/// executable here. Returns an error message, empty on success.
std::string readExecutable(const std::string &path, Executable &executable);

/// The features of this CPU among those that .zexe files may ask for.
std::string hostIsa();

/// The first feature of the list `isa` that this CPU (or this runtime) does not
/// have; empty when it has all.
std::string missingFeature(std::string_view isa);

/// Why code that needs the features `isa` cannot run here, and what to do; empty if it can. A list
/// that begins with the word `aarch64` is for that architecture, any other for x86-64.
std::string whyIsaDiffers(std::string_view isa);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_FORMAT_H

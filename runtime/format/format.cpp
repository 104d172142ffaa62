//===- format.cpp - the .zexe file ----------------------------------------===//

#include "runtime/format/format.h"

#include "runtime/support/checked.h"

#include <cstddef>
#include <cstring>

namespace zero::rt {

static uint64_t fileChecksum(std::span<const uint8_t> file) {
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.checksum = 0;
  auto *start = reinterpret_cast<const uint8_t *>(&header);
  return checksum(file.subspan(sizeof(header)), checksum({start, sizeof(header)}, 0));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Section append(std::string &file, std::string_view bytes) {
  file.resize((file.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  Section section{file.size(), bytes.size()};
  file.append(bytes);
  return section;
}

std::string writeExecutable(const std::string &path, const proto::Program &program,
                            std::string_view code, std::string_view data, std::string_view isa,
                            std::string_view hostCode) {
  Header header{};
  if (isa.size() >= sizeof(header.isa))
    return format("the list of CPU features is too long: expected fewer than %zu bytes, got %zu",
                  sizeof(header.isa), isa.size());
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::memcpy(header.isa, isa.data(), isa.size());
  header.version = kFormatVersion;
  header.headerBytes = sizeof(Header);

  std::string file(sizeof(Header), '\0');
  std::string tables;
  if (!program.SerializeToString(&tables))
    return "the program's tables are too large: expected less than 2 GiB";
  header.program = append(file, tables);
  header.code = append(file, code);
  header.data = append(file, data);
  header.hostCode = append(file, hostCode);
  header.fileBytes = file.size();
  std::memcpy(file.data(), &header, sizeof(header));
  header.checksum = fileChecksum({reinterpret_cast<const uint8_t *>(file.data()), file.size()});
  std::memcpy(file.data(), &header, sizeof(header));

  OutputFile output;
  Status status = OutputFile::create(path, output);
  if (status.ok())
    status = output.write(file);
  if (status.ok())
    status = output.commit();
  return status.getMessage();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string checkHeader(std::span<const uint8_t> file, Header &header) {
  if (file.size() < sizeof(kMagic) || std::memcmp(file.data(), kMagic, sizeof(kMagic)) != 0)
    return "not a Zero executable: it does not start with the magic bytes \"ZEROEXE\"";
  if (file.size() < sizeof(Header))
    return format("truncated: expected a header of %zu bytes, got %zu", sizeof(Header),
                  file.size());
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.version != kFormatVersion || header.headerBytes != sizeof(Header))
    return format("wrong version: expected %u, got %u; compile the model again", kFormatVersion,
                  header.version);
  if (header.fileBytes != file.size())
    return format("%s: expected %llu bytes, got %zu",
                  header.fileBytes > file.size() ? "truncated" : "wrong size",
                  static_cast<unsigned long long>(header.fileBytes), file.size());
  if (uint64_t actual = fileChecksum(file); actual != header.checksum)
    return format("wrong checksum: expected %016llx, got %016llx; the file is damaged",
                  static_cast<unsigned long long>(header.checksum),
                  static_cast<unsigned long long>(actual));
  return "";
}

static bool isInside(const Section &section, uint64_t fileBytes) {
  return section.offset % kSectionAlignment == 0 &&
         isWithin(section.offset, section.size, fileBytes);
}

/// The file has kernels and images once.
static void shareCode(const proto::Program &first, proto::Program &shape) {
  *shape.mutable_kernels() = first.kernels();
  *shape.mutable_gpu_images() = first.gpu_images();
  shape.set_target(first.target());
}

static std::string checkContents(std::span<const uint8_t> file, const Header &header,
                                 Executable &executable) {
  for (const Section &section : {header.program, header.code, header.data, header.hostCode})
    if (!isInside(section, file.size()))
      return "a section lies outside the file";
  if (header.isa[sizeof(header.isa) - 1] != '\0')
    return "the list of CPU features is not terminated";
  if (std::string reason = whyIsaDiffers(header.isa); !reason.empty())
    return reason;
  auto tables = file.subspan(header.program.offset, header.program.size);
  if (tables.size() > INT32_MAX ||
      !executable.program.ParseFromArray(tables.data(), static_cast<int>(tables.size())))
    return "its tables cannot be read";
  for (proto::Program &shape : *executable.program.mutable_shapes())
    shareCode(executable.program, shape);
  executable.code = file.subspan(header.code.offset, header.code.size);
  executable.data = file.subspan(header.data.offset, header.data.size);
  executable.hostCode = file.subspan(header.hostCode.offset, header.hostCode.size);
  executable.isa = header.isa;
  return "";
}

std::string readExecutable(const std::string &path, Executable &executable) {
  if (Status status = MappedFile::open(path, executable.file); !status.ok())
    return status.getMessage();
  Header header;
  std::string error = checkHeader(executable.file.bytes(), header);
  if (error.empty())
    error = checkContents(executable.file.bytes(), header, executable);
  return error.empty() ? error : format("'%s': %s", escape(path).c_str(), error.c_str());
}

} // namespace zero::rt

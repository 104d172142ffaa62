//===- event_file.cpp - figures of a run for TensorBoard ------------------===//

#include "runtime/io/event_file.h"

#include "runtime/support/clock.h"
#include "runtime/support/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

namespace zero::rt {

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// CRC-32C (Castagnoli), which the libraries here do not have.
static uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t byte = 0; byte < made.size(); ++byte) {
      made[byte] = byte;
      for (int bit = 0; bit < 8; ++bit)
        made[byte] = (made[byte] >> 1) ^ (made[byte] & 1 ? 0x82f63b78u : 0u);
    }
    return made;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = (crc >> 8) ^ table[uint8_t(crc ^ uint8_t(byte))];
  return ~crc;
}

template <typename T>
static std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// As TFRecord files have it, so that the checksum of a checksum is no special number.
static std::string maskedChecksum(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return bytesOf(uint32_t((crc >> 15 | crc << 17) + 0xa282ead8u));
}

static std::string recordOf(const std::string &event) {
  const std::string length = bytesOf(uint64_t(event.size()));
  return length + maskedChecksum(length) + event + maskedChecksum(event);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The bytes of a message whose fields `write` writes.
template <typename Write>
static std::string message(Write write) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  {
    CodedOutputStream out(&stream);
    write(out);
  }
  return text;
}

/// An Event at `step` with one more field, a message or a text.
static std::string eventOf(uint64_t step, int field, const std::string &content) {
  constexpr int kWallTime = 1, kStep = 2;
  return message([&](CodedOutputStream &out) {
    WireFormatLite::WriteDouble(kWallTime, unixTime(), &out);
    WireFormatLite::WriteInt64(kStep, int64_t(step), &out);
    WireFormatLite::WriteBytes(field, content, &out);
  });
}

/// A Summary of values with a tag and a number each.
static std::string summaryOf(const std::vector<Scalar> &scalars) {
  constexpr int kValue = 1, kTag = 1, kSimpleValue = 2;
  return message([&](CodedOutputStream &out) {
    for (const Scalar &scalar : scalars)
      WireFormatLite::WriteBytes(kValue, message([&](CodedOutputStream &value) {
                                   WireFormatLite::WriteString(kTag, scalar.tag, &value);
                                   WireFormatLite::WriteFloat(kSimpleValue, float(scalar.value),
                                                              &value);
                                 }),
                                 &out);
  });
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status EventFile::write(const std::string &event) {
  const std::string record = recordOf(event);
  file.write(record.data(), std::streamsize(record.size()));
  file.flush();
  return file ? Status()
              : fail(ZERO_RT_IO, "cannot write '%s': %s", escape(path).c_str(),
                     std::strerror(errno));
}

Status EventFile::open(const std::string &folder, uint64_t first) {
  constexpr int kFileVersion = 3, kSessionLog = 7, kStatus = 1, kStart = 1;
  ZERO_RT_TRY(makeFolders(folder));
  char host[256] = "localhost";
  (void)::gethostname(host, sizeof(host) - 1);
  path = format("%s/events.out.tfevents.%.0f.%s.%d", folder.c_str(), unixTime(), host,
                int(::getpid()));
  file.open(path, std::ios::binary | std::ios::app);
  ZERO_RT_TRY(write(eventOf(0, kFileVersion, "brain.Event:2")));
  if (first == 0)
    return {};
  return write(eventOf(first, kSessionLog, message([&](CodedOutputStream &out) {
                         WireFormatLite::WriteEnum(kStatus, kStart, &out);
                       })));
}

Status EventFile::add(uint64_t step, const std::vector<Scalar> &scalars) {
  constexpr int kSummary = 5;
  return isOpen() ? write(eventOf(step, kSummary, summaryOf(scalars))) : Status();
}

} // namespace zero::rt

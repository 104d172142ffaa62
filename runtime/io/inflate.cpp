//===- inflate.cpp - decompress deflated bytes ----------------------------===//

#include "runtime/io/inflate.h"

#include <algorithm>
#include <zlib.h>

namespace zero::rt {

static Status damaged() { return fail(ZERO_RT_BAD_FILE, "its compressed data is damaged"); }

static Status inflateInto(std::span<const uint8_t> packed, std::vector<uint8_t> &plain) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return fail(ZERO_RT_INTERNAL, "zlib cannot start");
  uint64_t in = 0, out = 0;
  int result = Z_OK;
  while (result == Z_OK) { // zlib counts in 32 bits
    stream.next_in = const_cast<uint8_t *>(packed.data()) + in;
    stream.next_out = plain.data() + out;
    uInt gave = stream.avail_in = std::min<uint64_t>(packed.size() - in, 1u << 30);
    uInt room = stream.avail_out = std::min<uint64_t>(plain.size() - out, 1u << 30);
    result = inflate(&stream, Z_NO_FLUSH);
    in += gave - stream.avail_in;
    out += room - stream.avail_out;
    if (gave == stream.avail_in && room == stream.avail_out && result == Z_OK)
      result = Z_DATA_ERROR;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && out == plain.size() ? Status() : damaged();
}

Status inflateExactly(std::span<const uint8_t> packed, uint64_t size, uint32_t crc,
                      std::vector<uint8_t> &plain) {
  // Deflate compresses by at most 1032 : 1; a larger ratio is a decompression bomb or a wrong size.
  if (size / 1040 > packed.size())
    return fail(ZERO_RT_BAD_FILE, "it claims an impossible size: %llu bytes in %zu compressed ones",
                static_cast<unsigned long long>(size), packed.size());
  if (size > kLargestInflated)
    return fail(ZERO_RT_UNSUPPORTED,
                "it is compressed, and with %llu bytes too large to unpack into memory (at most "
                "%llu); save it with numpy.savez() or numpy.save(), which are mapped",
                static_cast<unsigned long long>(size),
                static_cast<unsigned long long>(kLargestInflated));
  plain.resize(size);
  ZERO_RT_TRY(inflateInto(packed, plain));
  return static_cast<uint32_t>(crc32_z(0, plain.data(), size)) == crc ? Status() : damaged();
}

} // namespace zero::rt

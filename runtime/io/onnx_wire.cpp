//===- onnx_wire.cpp - the wire format of ONNX ----------------------------===//

#include "runtime/io/onnx_wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace zero::rt {

static Status broken() { return fail(ZERO_RT_BAD_FILE, "it is no ONNX model"); }

/// Reads the data after `tag` into `field`; false if the message is malformed.
static bool readField(CodedInputStream &input, uint32_t tag, uint64_t base, uint64_t size,
                      WireField &field) {
  field.number = WireFormatLite::GetTagFieldNumber(tag);
  switch (WireFormatLite::GetTagWireType(tag)) {
  case WireFormatLite::WIRETYPE_VARINT: {
    google::protobuf::uint64 value = 0;
    if (!input.ReadVarint64(&value))
      return false;
    field.value = value;
    return true;
  }
  case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
    uint32_t length = 0;
    if (!input.ReadVarint32(&length))
      return false;
    uint64_t at = uint64_t(input.CurrentPosition());
    if (length > size - at || !input.Skip(int(length)))
      return false;
    field.isBlock = true;
    field.block = {base + at, base + at + length};
    return true;
  }
  default:
    return WireFormatLite::SkipField(&input, tag);
  }
}

Status forEachField(std::span<const uint8_t> file, WireRange message,
                    const std::function<Status(const WireField &)> &visit) {
  if (message.size() > INT32_MAX)
    return fail(ZERO_RT_BAD_FILE, "an ONNX file is smaller than 2 GiB");
  CodedInputStream input(file.data() + message.begin, int(message.size()));
  for (uint64_t begin = message.begin; uint32_t tag = input.ReadTag();) {
    WireField field;
    if (!readField(input, tag, message.begin, message.size(), field))
      return broken();
    field.whole = {begin, message.begin + uint64_t(input.CurrentPosition())};
    begin = field.whole.end;
    ZERO_RT_TRY(visit(field));
  }
  return input.ConsumedEntireMessage() ? Status() : broken();
}

Status readVarints(std::span<const uint8_t> file, WireRange block, std::vector<uint64_t> &values) {
  CodedInputStream input(file.data() + block.begin, int(block.size()));
  while (uint64_t(input.CurrentPosition()) < block.size()) {
    google::protobuf::uint64 value = 0;
    if (!input.ReadVarint64(&value))
      return broken();
    values.push_back(value);
  }
  return {};
}

static std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7)
    text += char(value | 0x80);
  return text += char(value);
}

void WirePieces::add(WirePiece piece) {
  total += piece.bytes;
  WirePiece *last = pieces.empty() ? nullptr : &pieces.back();
  if (last && piece.kind == WirePiece::Old && last->kind == WirePiece::Old &&
      last->old.end == piece.old.begin) {
    last->old.end = piece.old.end;
    last->bytes += piece.bytes;
  } else if (last && piece.kind == WirePiece::Text && last->kind == WirePiece::Text) {
    last->text += piece.text;
    last->bytes += piece.bytes;
  } else if (piece.bytes > 0) {
    pieces.push_back(std::move(piece));
  }
}

void WirePieces::old(WireRange range) { add({WirePiece::Old, range, "", 0, range.size()}); }

void WirePieces::text(std::string bytes) {
  uint64_t size = bytes.size();
  add({WirePiece::Text, {}, std::move(bytes), 0, size});
}

void WirePieces::tensor(size_t entry, uint64_t bytes) {
  add({WirePiece::Tensor, {}, "", entry, bytes});
}

void WirePieces::append(WirePieces &&other) {
  for (WirePiece &piece : other.pieces)
    add(std::move(piece));
}

void WirePieces::field(int number, WirePieces &&block) {
  text(varint(uint64_t(number) << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  text(varint(block.size()));
  append(std::move(block));
}

void WirePieces::field(int number, const std::string &text) {
  WirePieces block;
  block.text(text);
  field(number, std::move(block));
}

} // namespace zero::rt

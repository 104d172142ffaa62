//===- WireScan.cpp - file ranges of tensors ------------------------------===//

#include "WireScan.h"

#include "runtime/io/onnx_wire.h"
#include "zero/Import/Import.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace zero::importer {

/// Calls `visit(field, range)` for each length-delimited field of the message at `range`, up to one
/// that is broken.
static void forEachBlock(llvm::StringRef file, ByteRange range,
                         llvm::function_ref<void(int, ByteRange)> visit) {
  (void)rt::forEachField({file.bytes_begin(), file.size()},
                         {range.offset, range.offset + range.bytes},
                         [&](const rt::WireField &field) {
                           if (field.isBlock)
                             visit(field.number, {field.block.begin, field.block.size()});
                           return rt::Status();
                         });
}

/// The last block of `field` of the message at `range`, as Protobuf's merge rule
/// has it; nothing if there is none.
static std::optional<ByteRange> lastBlock(llvm::StringRef file, ByteRange range, int field) {
  std::optional<ByteRange> found;
  forEachBlock(file, range, [&](int number, ByteRange block) {
    if (number == field)
      found = block;
  });
  return found;
}

/// The elements of the TensorProto at `range`: raw data, or one packed block of
/// floats or doubles, which is the same bytes.
static std::optional<ByteRange> tensorData(llvm::StringRef file, ByteRange range) {
  using Tensor = ::onnx::TensorProto;
  if (auto raw = lastBlock(file, range, Tensor::kRawDataFieldNumber))
    return raw;
  std::optional<ByteRange> found;
  int blocks = 0;
  forEachBlock(file, range, [&](int number, ByteRange block) {
    if (number != Tensor::kFloatDataFieldNumber && number != Tensor::kDoubleDataFieldNumber)
      return;
    found = block;
    ++blocks;
  });
  return blocks == 1 ? found : std::nullopt;
}

/// The elements of the attribute `value` of the NodeProto at `range`.
static std::optional<ByteRange> nodeValue(llvm::StringRef file, ByteRange range) {
  using Attribute = ::onnx::AttributeProto;
  std::optional<ByteRange> found;
  forEachBlock(file, range, [&](int number, ByteRange block) {
    if (number != ::onnx::NodeProto::kAttributeFieldNumber)
      return;
    auto name = lastBlock(file, block, Attribute::kNameFieldNumber);
    auto tensor = lastBlock(file, block, Attribute::kTFieldNumber);
    if (name && tensor && file.substr(name->offset, name->bytes) == "value")
      found = tensorData(file, *tensor);
  });
  return found;
}

/// Adds the tensors of the GraphProto at `range`.
static void scanGraph(llvm::StringRef file, ByteRange range, TensorRanges &ranges) {
  using Graph = ::onnx::GraphProto;
  forEachBlock(file, range, [&](int number, ByteRange block) {
    if (number == Graph::kInitializerFieldNumber)
      ranges.initializers.push_back(tensorData(file, block));
    else if (number == Graph::kNodeFieldNumber)
      ranges.nodeValues.push_back(nodeValue(file, block));
  });
}

void TensorRanges::append(TensorRanges other) {
  llvm::append_range(initializers, other.initializers);
  llvm::append_range(nodeValues, other.nodeValues);
}

ModelRanges scanTensors(llvm::StringRef file, std::optional<int> training) {
  using Training = ::onnx::TrainingInfoProto;
  ModelRanges ranges;
  int infos = 0;
  auto visitInfo = [&](int number, ByteRange block) {
    if (number == Training::kInitializationFieldNumber)
      scanGraph(file, block, ranges.initialization);
    else if (number == Training::kAlgorithmFieldNumber)
      scanGraph(file, block, ranges.algorithm);
  };
  forEachBlock(file, {0, file.size()}, [&](int number, ByteRange block) {
    if (number == ::onnx::ModelProto::kGraphFieldNumber)
      scanGraph(file, block, ranges.main);
    else if (number == ::onnx::ModelProto::kTrainingInfoFieldNumber && training == infos++)
      forEachBlock(file, block, visitInfo);
  });
  return ranges;
}

std::string explainBadFile(llvm::StringRef file) {
  if (file.empty())
    return "not an ONNX model: the file is empty";
  CodedInputStream input(reinterpret_cast<const uint8_t *>(file.data()),
                         static_cast<int>(file.size()));
  while (uint32_t tag = input.ReadTag()) {
    uint32_t length = 0;
    const bool block =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (WireFormatLite::GetTagFieldNumber(tag) == ::onnx::ModelProto::kGraphFieldNumber && block &&
        input.ReadVarint32(&length)) {
      uint64_t left = file.size() - input.CurrentPosition();
      if (length > left)
        return "truncated ONNX model: its graph takes " + std::to_string(length) +
               " bytes, but the file ends after " + std::to_string(left);
      break;
    }
    if (!WireFormatLite::SkipField(&input, tag))
      break;
  }
  return "not an ONNX model";
}

} // namespace zero::importer

bool zero::beginsOnnx(llvm::StringRef head) {
  CodedInputStream input(reinterpret_cast<const uint8_t *>(head.data()),
                         static_cast<int>(head.size()));
  bool any = false;
  while (uint32_t tag = input.ReadTag()) {
    const auto *field =
        ::onnx::ModelProto::descriptor()->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (!field || WireFormatLite::GetTagWireType(tag) !=
                      WireFormatLite::WireTypeForFieldType(
                          static_cast<WireFormatLite::FieldType>(field->type())))
      return false;
    any = true;
    if (!WireFormatLite::SkipField(&input, tag))
      break; // the rest of the field is after the head
  }
  return any;
}

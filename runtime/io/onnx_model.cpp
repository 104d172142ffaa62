//===- onnx_model.cpp - rewrite initial values of an ONNX file ------------===//

#include "runtime/io/onnx_model.h"

#include "runtime/io/onnx_rewriter.h"
#include "runtime/support/floats.h"

#include <algorithm>

namespace zero::rt {

static Status inModel(const std::string &path, const Status &status) {
  return status.ok() ? status
                     : fail(status.getCode(), "model '%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

/// Checks that every entry has a separate initializer in the model at `path`.
static Status checkInitializers(const std::string &path, const std::vector<TensorEntry> &entries) {
  const TensorEntry *first = nullptr;
  size_t count = 0;
  for (const TensorEntry &entry : entries)
    if (entry.initializer.empty() && ++count == 1)
      first = &entry;
  if (count == 0)
    return {};
  return fail(ZERO_RT_BAD_FILE,
              "save as .safetensors: %zu trained tensors, such as '%s', have no initializer of "
              "their own in model '%s': they are inputs of the model, or its exporter merged equal "
              "tensors or dropped zeros (with optimize=False it does not)",
              count, escape(first->name).c_str(), escape(path).c_str());
}

/// A matrix of `shape` at `values` becomes its transpose.
static void transpose(const std::vector<uint64_t> &shape, size_t size,
                      std::vector<uint8_t> &values) {
  std::vector<uint8_t> result(values.size());
  const uint64_t height = shape[0], width = shape[1];
  for (uint64_t row = 0; row < height; ++row)
    for (uint64_t column = 0; column < width; ++column)
      std::copy_n(&values[(row * width + column) * size], size,
                  &result[(column * height + row) * size]);
  values.swap(result);
}

Status OnnxModel::open(const std::string &path, int trainingInfo,
                       const std::vector<std::string> &dataFiles,
                       const std::vector<TensorEntry> &entries, OnnxModel &model) {
  OnnxModel made;
  made.path = path;
  made.trainingInfo = trainingInfo;
  made.dataFiles = dataFiles;
  ZERO_RT_TRY(checkInitializers(path, entries));
  ZERO_RT_TRY(MappedFile::open(path, made.file));
  OnnxRewriter rewriter(made.file.bytes(), path, trainingInfo, dataFiles, entries, "");
  ZERO_RT_TRY(inModel(path, rewriter.run()));
  for (size_t i = 0; i < entries.size(); ++i)
    if (rewriter.stored[i] == ZERO_RT_NO_DTYPE)
      return inModel(path, fail(ZERO_RT_BAD_FILE,
                                "it has no tensor '%s'; is it the file that was compiled?",
                                escape(entries[i].initializer).c_str()));
  made.isExternal = !rewriter.external.empty();
  made.stored = std::move(rewriter.stored);
  model = std::move(made);
  return {};
}

Status OnnxModel::writeEntry(OutputFile &target, const TensorEntry &entry, DType type) const {
  std::vector<uint8_t> values(entry.bytes()), narrow;
  ZERO_RT_TRY(entry.read(values.data(), values.size()));
  if (entry.transposed)
    transpose(entry.shape, sizeOf(entry.dtype), values);
  if (type != entry.dtype) {
    narrow.resize(entry.elements() * sizeOf(type));
    convertFloats(entry.dtype, values.data(), type, narrow.data(), entry.elements());
    values.swap(narrow);
  }
  return target.write(values.data(), values.size());
}

Status OnnxModel::writeExternal(OutputFile &data, const std::vector<External> &tensors,
                                const std::vector<TensorEntry> &entries) const {
  std::vector<char> chunk;
  uint64_t at = 0;
  for (const External &tensor : tensors) {
    ZERO_RT_TRY(data.write(std::string(tensor.place - at, '\0')));
    at = tensor.place + tensor.bytes;
    if (tensor.isEntry) {
      ZERO_RT_TRY(writeEntry(data, entries[tensor.entry], stored[tensor.entry]));
      continue;
    }
    InputFile source;
    ZERO_RT_TRY(InputFile::open(tensor.file, source));
    chunk.resize(std::min<uint64_t>(tensor.bytes, 1u << 20));
    for (uint64_t done = 0; done < tensor.bytes; done += chunk.size()) {
      chunk.resize(std::min<uint64_t>(chunk.size(), tensor.bytes - done));
      ZERO_RT_TRY(source.read(tensor.offset + done, chunk.data(), chunk.size()));
      ZERO_RT_TRY(data.write(chunk.data(), chunk.size()));
    }
  }
  return {};
}

Status OnnxModel::write(OutputFile &target, OutputFile &data, const std::string &dataName,
                        const std::vector<TensorEntry> &entries) const {
  OnnxRewriter rewriter(file.bytes(), path, trainingInfo, dataFiles, entries, dataName);
  ZERO_RT_TRY(inModel(path, rewriter.run()));
  for (const WirePiece &piece : rewriter.pieces.list()) {
    if (piece.kind == WirePiece::Old)
      ZERO_RT_TRY(target.write(file.bytes().data() + piece.old.begin, piece.old.size()));
    else if (piece.kind == WirePiece::Text)
      ZERO_RT_TRY(target.write(piece.text));
    else
      ZERO_RT_TRY(writeEntry(target, entries[piece.tensor], stored[piece.tensor]));
  }
  return writeExternal(data, rewriter.external, entries);
}

} // namespace zero::rt

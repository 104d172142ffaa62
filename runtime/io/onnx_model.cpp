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

/// Appends the transpose of the matrix `entry`, as `type`. Some of its rows are read at a time;
/// they are a few elements of each row of the transpose, which are written where these belong.
static Status writeTransposed(OutputFile &target, const TensorEntry &entry, DType type) {
  const uint64_t height = entry.shape[0], width = entry.shape[1];
  const uint64_t size = sizeOf(entry.dtype), row = width * size;
  // At most 65 writes for each row of the transpose, however wide the matrix is.
  const uint64_t atOnce = std::max(kTensorPiece, entry.bytes() / 64) / std::max<uint64_t>(row, 1);
  std::vector<uint8_t> rows, column, converted;
  uint64_t begin;
  ZERO_RT_TRY(target.skip(entry.elements() * sizeOf(type), begin));
  auto write = [&](std::span<const uint8_t> piece, uint64_t offset) -> Status {
    const uint64_t count = piece.size() / row, first = offset / row;
    column.resize(count * size);
    converted.resize(count * sizeOf(type));
    for (uint64_t c = 0; c < width; ++c) {
      for (uint64_t r = 0; r < count; ++r)
        std::copy_n(&piece[r * row + c * size], size, &column[r * size]);
      convertFloats(entry.dtype, column.data(), type, converted.data(), count);
      ZERO_RT_TRY(target.writeAt(begin + (c * height + first) * sizeOf(type), converted.data(),
                                 converted.size()));
    }
    return {};
  };
  return entry.readPieces(std::max<uint64_t>(atOnce, 1) * row, rows, write);
}

/// Appends the values of `entry` as `type`.
static Status writeEntry(OutputFile &target, const TensorEntry &entry, DType type) {
  if (entry.transposed)
    return writeTransposed(target, entry, type);
  std::vector<uint8_t> buffer, converted;
  return entry.readPieces(kTensorPiece, buffer, [&](std::span<const uint8_t> piece, uint64_t) {
    if (type == entry.dtype)
      return target.write(piece.data(), piece.size());
    const uint64_t count = piece.size() / sizeOf(entry.dtype);
    converted.resize(count * sizeOf(type));
    convertFloats(entry.dtype, piece.data(), type, converted.data(), count);
    return target.write(converted.data(), converted.size());
  });
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

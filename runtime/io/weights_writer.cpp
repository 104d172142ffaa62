//===- weights_writer.cpp - write trained weights -------------------------===//

#include "runtime/io/weights_writer.h"

#include "runtime/io/ort_checkpoint.h"
#include "runtime/io/safetensors.h"

namespace zero::rt {

bool writesModel(const std::string &path) { return path.ends_with(".onnx"); }

/// Creates the temporary of `path`, which must not be a file of `origin`.
static Status createOutput(const std::string &path, const WeightsOrigin &origin, OutputFile &file) {
  std::vector<std::string> inputs = origin.files;
  inputs.push_back(origin.model);
  inputs.push_back(origin.ortCheckpoint);
  for (const std::string &input : inputs)
    if (isSameFile(path, input))
      return fail(ZERO_RT_IO, "cannot write '%s': the program reads '%s' from there",
                  escape(path).c_str(), escape(input).c_str());
  return OutputFile::create(path, file);
}

WeightsWriter::Format WeightsWriter::formatOf(const std::string &path,
                                              const WeightsOrigin &origin) {
  if (writesModel(path))
    return Format::Onnx;
  const bool hasSuffix = path.find('.', path.rfind('/') + 1) != path.npos;
  return origin.ortCheckpoint.empty() || hasSuffix ? Format::Safetensors : Format::OrtCheckpoint;
}

Status WeightsWriter::create(const std::string &path, const WeightsOrigin &origin,
                             const std::vector<TensorEntry> &entries, WeightsWriter &writer) {
  writer.origin = origin;
  writer.format = formatOf(path, origin);
  if (writer.format == Format::Onnx) {
    if (origin.model.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "cannot write '%s': the program was not made from a .onnx file",
                  escape(path).c_str());
    ZERO_RT_TRY(
        OnnxModel::open(origin.model, origin.trainingInfo, origin.files, entries, writer.model));
  }
  if (writer.model.hasExternalData()) {
    writer.dataName = path.substr(path.rfind('/') + 1) + ".data";
    ZERO_RT_TRY(createOutput(path + ".data", origin, writer.data));
  }
  return createOutput(path, origin, writer.file);
}

Status WeightsWriter::write(const std::vector<TensorEntry> &entries) {
  switch (format) {
  case Format::Onnx:
    return model.write(file, data, dataName, entries);
  case Format::OrtCheckpoint:
    return writeOrtCheckpoint(file, origin.ortCheckpoint, origin.learningRate, entries);
  case Format::Safetensors:
    return writeSafetensors(file, entries);
  }
  return fail(ZERO_RT_INTERNAL, "unknown format of weights");
}

Status WeightsWriter::sync() {
  if (data.isOpen())
    ZERO_RT_TRY(data.sync());
  return file.sync();
}

Status WeightsWriter::commit() {
  if (data.isOpen())
    ZERO_RT_TRY(data.commit());
  return file.commit();
}

} // namespace zero::rt

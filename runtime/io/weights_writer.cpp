//===- weights_writer.cpp - write trained weights -------------------------===//

#include "runtime/io/weights_writer.h"

#include "runtime/io/safetensors.h"

namespace zero::rt {

/// Creates the temporary of `path`, which must not be a file of `origin`.
static Status createOutput(const std::string &path, const WeightsOrigin &origin, OutputFile &file) {
  std::vector<std::string> inputs = origin.files;
  inputs.push_back(origin.model);
  for (const std::string &input : inputs)
    if (isSameFile(path, input))
      return fail(ZERO_RT_IO, "cannot write '%s': the program reads '%s' from there",
                  escape(path).c_str(), escape(input).c_str());
  return OutputFile::create(path, file);
}

Status WeightsWriter::create(const std::string &path, const WeightsOrigin &origin,
                             const std::vector<TensorEntry> &entries, WeightsWriter &writer) {
  writer.isOnnx = path.ends_with(".onnx");
  if (writer.isOnnx) {
    if (origin.model.empty())
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "cannot write '%s': the program was not made from a .onnx file",
                  escape(path).c_str());
    ZERO_RT_TRY(OnnxModel::open(origin.model, origin.files, entries, writer.model));
  }
  if (writer.model.hasExternalData()) {
    writer.dataName = path.substr(path.rfind('/') + 1) + ".data";
    ZERO_RT_TRY(createOutput(path + ".data", origin, writer.data));
  }
  return createOutput(path, origin, writer.file);
}

Status WeightsWriter::write(const std::vector<TensorEntry> &entries) {
  return isOnnx ? model.write(file, data, dataName, entries) : writeSafetensors(file, entries);
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

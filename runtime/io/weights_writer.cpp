//===- weights_writer.cpp - write trained weights -------------------------===//

#include "runtime/io/weights_writer.h"

#include "runtime/io/ort_checkpoint.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/finite.h"

namespace zero::rt {

// The names of PEFT.
static constexpr std::string_view kPrefix = "base_model.model.", kFirst = ".lora_A.weight",
                                  kSecond = ".lora_B.weight";

bool writesModel(const std::string &path) { return path.ends_with(".onnx"); }

bool isOfAdapter(std::string_view name) {
  return name.starts_with(kPrefix) && (name.ends_with(kFirst) || name.ends_with(kSecond));
}

std::string moduleOfAdapter(std::string_view name) {
  if (!isOfAdapter(name) || !name.ends_with(kFirst))
    return "";
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kFirst.size());
  return std::string(name);
}

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
  if (path.ends_with('/'))
    return Format::Adapter;
  const bool hasSuffix = path.find('.', path.rfind('/') + 1) != path.npos;
  return origin.ortCheckpoint.empty() || hasSuffix ? Format::Safetensors : Format::OrtCheckpoint;
}

/// The tensors of the adapters among `entries`.
static std::vector<TensorEntry> adaptersOf(std::vector<TensorEntry> entries) {
  std::erase_if(entries, [](const TensorEntry &entry) { return !isOfAdapter(entry.name); });
  return entries;
}

/// Creates the files of `folder`, which ends with a slash.
Status WeightsWriter::createAdapter(const std::string &folder) {
  if (origin.adapterConfig.empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write the folder '%s': expected a program of --lora that trains nothing "
                "else, whose adapters it gets; or the name of a file",
                escape(folder).c_str());
  ZERO_RT_TRY(makeFolders(folder));
  ZERO_RT_TRY(createOutput(folder + "adapter_config.json", origin, data));
  return createOutput(folder + "adapter_model.safetensors", origin, file);
}

Status WeightsWriter::create(const std::string &path, const WeightsOrigin &origin,
                             const std::vector<TensorEntry> &entries, WeightsWriter &writer) {
  writer.origin = origin;
  writer.format = formatOf(path, origin);
  if (writer.format == Format::Adapter)
    return writer.createAdapter(path);
  if (writer.format == Format::Safetensors)
    ZERO_RT_TRY(checkSafetensorsNames(entries));
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

/// `entry`, whose reader fails at values that are not finite.
static TensorEntry checked(const TensorEntry &entry) {
  TensorEntry made = entry;
  made.read = [entry](uint64_t offset, void *destination, uint64_t bytes) -> Status {
    ZERO_RT_TRY(entry.read(offset, destination, bytes));
    const uint64_t count = bytes / sizeOf(entry.dtype);
    const uint64_t found = findNonFinite(entry.dtype, destination, count);
    if (found == count)
      return {};
    const char *value = static_cast<const char *>(destination) + found * sizeOf(entry.dtype);
    return fail(ZERO_RT_NOT_FINITE, "'%s' has %s; --allow-nan saves such weights",
                escape(entry.name).c_str(), isNan(entry.dtype, value) ? "a NaN" : "an infinity");
  };
  return made;
}

Status WeightsWriter::write(const std::vector<TensorEntry> &entries) {
  std::vector<TensorEntry> all;
  for (const TensorEntry &entry : entries)
    all.push_back(entry.mustBeFinite ? checked(entry) : entry);
  return writeChecked(all);
}

Status WeightsWriter::writeChecked(const std::vector<TensorEntry> &entries) {
  switch (format) {
  case Format::Onnx:
    return model.write(file, data, dataName, entries);
  case Format::OrtCheckpoint:
    return writeOrtCheckpoint(file, origin.ortCheckpoint, origin.learningRate, entries);
  case Format::Safetensors:
    return writeSafetensors(file, entries);
  case Format::Adapter:
    ZERO_RT_TRY(data.write(origin.adapterConfig));
    return writeSafetensors(file, adaptersOf(entries));
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

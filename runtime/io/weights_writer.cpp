//===- weights_writer.cpp - write trained weights -------------------------===//

#include "runtime/io/weights_writer.h"

#include "runtime/io/gguf_model.h"
#include "runtime/io/merge_adapters.h"
#include "runtime/io/ort_checkpoint.h"
#include "runtime/io/safetensors.h"
#include "runtime/support/adapter_names.h"
#include "runtime/support/finite.h"
#include "runtime/support/floats.h"

namespace zero::rt {

/// The max_shard_size of save_pretrained() of transformers.
static constexpr uint64_t kShardBytes = 5'000'000'000;

bool writesModel(const std::string &path) { return path.ends_with(".onnx"); }

/// Creates the temporary of `path`, which must not be a file that the run reads.
Status WeightsWriter::createOutput(const std::string &path, OutputFile &output) const {
  std::vector<std::string> inputs = origin.files;
  for (const std::string *more : {&origin.model, &origin.ortCheckpoint, &origin.weights})
    inputs.push_back(*more);
  for (const std::string &input : inputs)
    if (isSameFile(path, input))
      return fail(ZERO_RT_IO, "cannot write '%s': the program reads '%s' from there",
                  escape(path).c_str(), escape(input).c_str());
  return OutputFile::create(path, output);
}

WeightsWriter::Format WeightsWriter::formatOf(const std::string &path) const {
  if (writesModel(path))
    return Format::Onnx;
  if (path.ends_with(".gguf"))
    return Format::Gguf;
  const bool hasAdapter = !origin.adapterConfig.empty() && !form.mergesAdapters;
  if (path.ends_with('/'))
    return !hasAdapter && isFolderModel(origin.model) ? Format::Folder : Format::Adapter;
  const bool hasSuffix = path.find('.', path.rfind('/') + 1) != path.npos;
  return origin.ortCheckpoint.empty() || hasSuffix ? Format::Safetensors : Format::OrtCheckpoint;
}

/// The tensors of the adapters among `entries`.
static std::vector<TensorEntry> adaptersOf(std::vector<TensorEntry> entries) {
  std::erase_if(entries, [](const TensorEntry &entry) { return !isOfAdapter(entry.name); });
  return entries;
}

/// Creates the files of the folder `path`, which ends with a slash.
Status WeightsWriter::createAdapter(const std::string &path) {
  if (origin.adapterConfig.empty() || form.mergesAdapters)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write the folder '%s': expected the model of a folder with config.json, or "
                "a program of --lora that trains nothing else, whose adapters it gets; or the name "
                "of a file",
                escape(path).c_str());
  ZERO_RT_TRY(makeFolders(path));
  adapterConfig = path + "adapter_config.json";
  ZERO_RT_TRY(createOutput(adapterConfig, data));
  return createOutput(path + "adapter_model.safetensors", file);
}

Status WeightsWriter::createFolder(const std::string &path,
                                   const std::vector<TensorEntry> &entries) {
  auto create = [&](const std::string &name, OutputFile &made) { return createOutput(name, made); };
  const uint64_t shardBytes = form.shardBytes ? form.shardBytes : kShardBytes;
  return WeightsFolder::create(path, config, entries, shardBytes, create, folder);
}

Status WeightsWriter::readConfig(const std::string &path) {
  if (!isFolderModel(origin.model))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write '%s': expected the model of a folder with config.json",
                escape(path).c_str());
  return FolderConfig::read(origin.model, config);
}

Status WeightsWriter::createOnnx(const std::string &path, const std::vector<TensorEntry> &entries) {
  if (origin.model.empty() || isFolderModel(origin.model))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write '%s': the program was not made from a .onnx file",
                escape(path).c_str());
  ZERO_RT_TRY(OnnxModel::open(origin.model, origin.trainingInfo, origin.files, entries, model));
  if (model.hasExternalData()) {
    dataName = path.substr(path.rfind('/') + 1) + ".data";
    ZERO_RT_TRY(createOutput(path + ".data", data));
  }
  return createOutput(path, file);
}

Status WeightsWriter::create(const std::string &path, const WeightsOrigin &origin,
                             const WeightsForm &form, std::vector<TensorEntry> entries,
                             WeightsWriter &writer) {
  writer.origin = origin;
  writer.form = form;
  writer.format = writer.formatOf(path);
  if (writer.keepsTypes() && form.dtype != ZERO_RT_NO_DTYPE)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--save-precision has no effect on '%s': it keeps the types of the original",
                escape(path).c_str());
  if (form.inBlocks && writer.format != Format::Gguf)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "cannot write '%s' with --save-precision=q8_0: only .gguf files have such blocks",
                escape(path).c_str());
  if (writer.makesTypes())
    ZERO_RT_TRY(writer.readConfig(path));
  ZERO_RT_TRY(writer.makeWritten(entries));
  switch (writer.format) {
  case Format::Adapter:
    return writer.createAdapter(path);
  case Format::Folder:
    return writer.createFolder(path, entries);
  case Format::Onnx:
    return writer.createOnnx(path, entries);
  case Format::Safetensors:
    ZERO_RT_TRY(checkSafetensorsNames(entries));
    break;
  case Format::OrtCheckpoint:
  case Format::Gguf:
    break;
  }
  return writer.createOutput(path, writer.file);
}

/// The type in which `entry` is written.
DType WeightsWriter::typeOf(const TensorEntry &entry) const {
  if (!isConvertible(entry.dtype, ZERO_RT_F32))
    return entry.dtype;
  const bool isVector = entry.shape.size() < 2; // llama.cpp adds and multiplies vectors of f32
  if (format == Format::Gguf && (isVector || form.inBlocks))
    return ZERO_RT_F32;
  if (form.dtype != ZERO_RT_NO_DTYPE || !makesTypes())
    return form.dtype != ZERO_RT_NO_DTYPE ? form.dtype : entry.dtype;
  if (entry.stored != ZERO_RT_NO_DTYPE)
    return entry.stored;
  return config.dtype() != ZERO_RT_NO_DTYPE ? config.dtype() : entry.dtype;
}

/// The number that .gguf files have for the type of most of their matrices.
static uint32_t fileType(const std::vector<TensorEntry> &entries, bool inBlocks) {
  const DType dtype = mainType(entries);
  return inBlocks ? 7 : dtype == ZERO_RT_F16 ? 1 : dtype == ZERO_RT_BF16 ? 32 : 0;
}

/// Makes of the tensors of the program those of the file: their types and names, and no adapters if
/// these are merged.
Status WeightsWriter::makeWritten(std::vector<TensorEntry> &entries) {
  for (TensorEntry &entry : entries)
    entry.stored = typeOf(entry); // before a sum makes it f32
  if (form.mergesAdapters)
    ZERO_RT_TRY(mergeAdapters(entries));
  if (makesTypes() && !adaptersOf(entries).empty())
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "the program trains adapters, which no folder and no .gguf file of a whole model "
                "has; --merge-lora adds them to its weights");
  for (TensorEntry &entry : entries) {
    if (!keepsTypes())
      entry = withType(entry, entry.stored);
    if (format == Format::Folder && !entry.initializer.empty())
      entry.name = entry.initializer;
  }
  if (format != Format::Gguf)
    return {};
  metadata = {};
  return makeGguf(config, fileType(entries, form.inBlocks), entries, metadata);
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

Status WeightsWriter::write(std::vector<TensorEntry> entries) {
  ZERO_RT_TRY(makeWritten(entries));
  for (TensorEntry &entry : entries)
    if (entry.mustBeFinite)
      entry = checked(entry);
  return writeChecked(entries);
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
  case Format::Folder:
    return folder.write(entries);
  case Format::Gguf:
    return writeGguf(file, metadata, entries, form.inBlocks);
  }
  return fail(ZERO_RT_INTERNAL, "unknown format of weights");
}

Status WeightsWriter::sync() {
  if (format == Format::Folder)
    return folder.sync();
  if (data.isOpen())
    ZERO_RT_TRY(data.sync());
  return file.sync();
}

Status WeightsWriter::commit() {
  if (format == Format::Folder)
    return folder.commit();
  if (format == Format::Adapter) {
    ZERO_RT_TRY(data.sync());
    ZERO_RT_TRY(file.sync());
    ZERO_RT_TRY(removeUnless(adapterConfig, origin.adapterConfig));
    ZERO_RT_TRY(file.commit());
    return data.commit();
  }
  if (data.isOpen())
    ZERO_RT_TRY(data.commit());
  return file.commit();
}

} // namespace zero::rt

//===- gradients.cpp - gradients that a step has kept ---------------------===//

#include "runtime/session/gradients.h"

#include "runtime/io/safetensors.h"
#include "runtime/session/collect.h"
#include "runtime/support/file.h"

namespace zero::rt {

Status Gradients::keep(bool keeps, StepRequest &request) {
  drop();
  if (!keeps)
    return {};
  begins.assign(1, 0);
  for (int i = 0; i < tables().gradients_size(); ++i)
    begins.push_back(begins.back() + bytesOf(i));
  std::unique_ptr<ScratchFile> made;
  ZERO_RT_TRY(ScratchFile::create(made));
  file = std::move(made);
  request.takeGradient = [file = file, begins = begins](int gradient, uint64_t offset,
                                                        const char *values, uint64_t bytes) {
    return file->write(begins[size_t(gradient)] + offset, values, bytes);
  };
  return {};
}

Status Gradients::checkKept() const {
  return file ? Status()
              : fail(ZERO_RT_INVALID_ARGUMENT, "the last step did not keep its gradients");
}

uint64_t Gradients::bytesOf(int index) const {
  const proto::Gradient &gradient = tables().gradients(index);
  return elementsOf(program().parameterOf(gradient).shape()) * sizeOf(gradientType(gradient));
}

Status Gradients::collect(int index, const ValueRange &range, void *destination) const {
  ZERO_RT_TRY(checkKept());
  auto read = [&](uint64_t offset, void *to, uint64_t bytes) {
    return file->read(begins[size_t(index)] + offset, to, bytes);
  };
  return collectGradient(ranks, tables().gradients(index), range, read, destination);
}

Status Gradients::read(const std::string &parameter, const ValueRange &range,
                       void *destination) const {
  ZERO_RT_TRY(checkKept());
  for (int i = 0; i < tables().gradients_size(); ++i) {
    if (tables().gradients(i).parameter() != parameter)
      continue;
    ZERO_RT_TRY(checkRange(parameter, bytesOf(i), range));
    ZERO_RT_TRY(announce(ranks, {Request::Gradient, i, 0, range}));
    return collect(i, range, destination);
  }
  return notFound("gradient of", parameter);
}

static Status writeFile(const std::string &path, std::vector<TensorEntry> entries) {
  OutputFile file;
  ZERO_RT_TRY(OutputFile::create(path, file));
  ZERO_RT_TRY(writeSafetensors(file, std::move(entries)));
  return file.commit();
}

Status Gradients::save(const std::string &path) const {
  std::vector<TensorEntry> entries;
  for (const proto::Gradient &gradient : tables().gradients()) {
    auto shape = shapeOf(program().parameterOf(gradient).shape());
    entries.push_back({gradient.parameter(),
                       gradientType(gradient),
                       {shape.begin(), shape.end()},
                       [this, &gradient](uint64_t offset, void *destination, uint64_t bytes) {
                         return read(gradient.parameter(), {offset, bytes}, destination);
                       }});
  }
  return writeFile(path, std::move(entries));
}

} // namespace zero::rt

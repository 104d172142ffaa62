//===- gradients.cpp - gradients that a step has kept ---------------------===//

#include "runtime/session/gradients.h"

#include "runtime/io/safetensors.h"
#include "runtime/session/collect.h"
#include "runtime/session/values.h"
#include "runtime/support/file.h"

#include <algorithm>

namespace zero::rt {

Status Gradients::keep(bool keeps) {
  kept = keeps;
  values->resize(kept ? size_t(tables().gradients_size()) : 0);
  for (size_t i = 0; i < values->size(); ++i) {
    const proto::Gradient &gradient = tables().gradients(int(i));
    (*values)[i].resize(elementsOf(program().parameterOf(gradient).shape()) *
                        sizeOf(gradientType(gradient)));
  }
  return {};
}

Status Gradients::gather(int index) const {
  if (!kept)
    return fail(ZERO_RT_INVALID_ARGUMENT, "the last step did not keep its gradients");
  return collectGradient(ranks, tables().gradients(index), (*values)[size_t(index)].data());
}

Status Gradients::read(const std::string &parameter, void *destination, uint64_t bytes) const {
  if (!kept)
    return fail(ZERO_RT_INVALID_ARGUMENT, "the last step did not keep its gradients");
  for (int i = 0; i < tables().gradients_size(); ++i) {
    if (tables().gradients(i).parameter() != parameter)
      continue;
    ZERO_RT_TRY(checkSize(parameter, (*values)[i].size(), bytes));
    ZERO_RT_TRY(announce(ranks, {Request::Gradient, i}));
    ZERO_RT_TRY(gather(i));
    std::copy_n((*values)[i].data(), bytes, static_cast<uint8_t *>(destination));
    return {};
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
                       [this, &gradient](void *destination, uint64_t bytes) {
                         return read(gradient.parameter(), destination, bytes);
                       }});
  }
  return writeFile(path, std::move(entries));
}

} // namespace zero::rt

//===- session_weights.cpp - load and save weights of a session -----------===//

#include "runtime/session/session_weights.h"

#include "runtime/format/codes.h"
#include "runtime/format/norms.h"
#include "runtime/io/weights_writer.h"
#include "runtime/session/adapters.h"
#include "runtime/session/collect.h"
#include "runtime/session/values.h"
#include "runtime/session/weights.h"
#include "runtime/support/floats.h"
#include "runtime/support/problems.h"

#include <cstring>
#include <map>

namespace zero::rt {

SessionWeights::SessionWeights(Ranks &ranks) : ranks(ranks) {
  for (const proto::Tensor &tensor : tables().tensors())
    if (tensor.init().required())
      awaited.insert(tensor.name());
}

Status SessionWeights::checkGiven() const {
  if (awaited.empty())
    return {};
  Problems problems(ranks.getOptions().verbose);
  for (const std::string &name : awaited)
    problems.add("without an initial value", quoted(name));
  return fail(ZERO_RT_BAD_DATA,
              "the model does not say how its state begins; give values with --weights=FILE or "
              "--resume=DIR, or compile with --zeros=PATTERN,... for state that starts as zero; %s",
              problems.text().c_str());
}

static uint64_t bytesOf(const proto::Tensor &tensor) {
  const ValueType value = valueTypeOf(tensor);
  uint64_t count = 0;
  countElements(value.shape, count);
  return count * sizeOf(value.dtype);
}

Status SessionWeights::collect(int index, const ValueRange &range, void *destination) const {
  return collectTensor(ranks, program().valueOf(tables().tensors(index)), range, destination);
}

int SessionWeights::indexOf(const std::string &name) const {
  for (int i = 0; i < tables().tensors_size(); ++i)
    if (tables().tensors(i).name() == name)
      return i;
  return -1;
}

/// What ranks store in `range` of tensor `index`, of which a coded parameter has codes.
Status SessionWeights::readStored(int index, const ValueRange &range, void *destination) const {
  ZERO_RT_TRY(announce(ranks, {Request::Tensor, index, 0, range}));
  return collect(index, range, destination);
}

/// Elements [begin, begin + count) of tensor `index`, f32 or a coded parameter.
Status SessionWeights::decode(int index, uint64_t begin, uint64_t count,
                              std::vector<float> &elements) const {
  const proto::Tensor &tensor = tables().tensors(index);
  if (!isCoded(tensor)) {
    elements.resize(count);
    return readStored(index, {begin * sizeof(float), count * sizeof(float)}, elements.data());
  }
  const Codes codes = codesOf(tensor);
  const uint64_t all = bytesOf(tensor) / sizeOf(valueTypeOf(tensor).dtype);
  const int scales = indexOf(tensor.blocks().scales());
  const bool hasMean = elementsOf(tables().tensors(scales).shape()) > codes.blocksOf(all);
  return decodeRange(
      codes, all, hasMean, begin, count,
      [&](uint64_t from, uint64_t number, uint8_t *bytes) {
        return readStored(index, {from, number}, bytes);
      },
      [&](uint64_t from, uint64_t number, std::vector<float> &values) {
        return decode(scales, from, number, values);
      },
      elements);
}

Status SessionWeights::read(const std::string &name, const ValueRange &range,
                            void *destination) const {
  const int index = indexOf(name);
  if (index < 0)
    return notFound("tensor", name);
  const proto::Tensor &tensor = tables().tensors(index);
  ZERO_RT_TRY(checkRange(name, bytesOf(program().valueOf(tensor)), range));
  if (!isCoded(tensor) || range.bytes == 0)
    return readStored(index, range, destination);
  const DType dtype = valueTypeOf(tensor).dtype;
  const uint64_t size = sizeOf(dtype), begin = range.offset / size;
  const uint64_t count = (range.end() + size - 1) / size - begin;
  std::vector<float> elements;
  ZERO_RT_TRY(decode(index, begin, count, elements));
  std::vector<char> values(count * size);
  convertFloats(ZERO_RT_F32, elements.data(), dtype, values.data(), count);
  std::memcpy(destination, values.data() + range.offset - begin * size, range.bytes);
  return {};
}

/// The elements that `make` makes of a type `from`, as `to`. Needs no memory for more than a few.
static MakeElements convert(MakeElements make, DType from, DType to) {
  return [=, make = std::move(make)](uint64_t begin, uint64_t count, char *target) {
    alignas(64) char buffer[32768];
    const uint64_t most = sizeof(buffer) / sizeOf(from);
    for (uint64_t done = 0; done < count; done += most) {
      const uint64_t now = std::min(most, count - done);
      make(begin + done, now, buffer);
      convertFloats(from, buffer, to, target + done * sizeOf(to), now);
    }
  };
}

/// The elements of `array` as `to`. What was read of a mapped file does not stay resident.
static MakeElements elementsAs(const Array &array, DType to) {
  return [&array, to](uint64_t begin, uint64_t count, char *target) {
    const uint64_t size = sizeOf(array.dtype), most = kTensorPiece / size;
    for (uint64_t done = 0; done < count; done += most) {
      const uint64_t now = std::min(most, count - done);
      const uint64_t at = (begin + done) * size;
      convertFloats(array.dtype, array.bytes.data() + at, to, target + done * sizeOf(to), now);
      array.release(at, now * size);
    }
  };
}

/// Lets `make` write all ranks' parts of `tensor`. If `tensor` is a master, writes its values,
/// rounded further, to its parameter; and the value of a parameter to its average, too.
Status SessionWeights::writeWhole(const proto::Tensor &tensor, const MakeElements &make) {
  if (isCoded(tensor)) {
    for (const auto &rank : ranks.here())
      ZERO_RT_TRY(encodeParameter(tables(), tensor, rank->number(), rank->getMemory().byTier(),
                                  [&](uint64_t begin, uint64_t count, float *target) {
                                    make(begin, count, reinterpret_cast<char *>(target));
                                    return Status();
                                  }));
    return {};
  }
  for (const Block &block : blocksOf(tables(), tensor))
    for (const auto &rank : ranks.here())
      ZERO_RT_TRY(setOwnPart(block, rank->number(), rank->getMemory().byTier(), make));
  const std::string &name = tensor.master() ? tensor.of() : tensor.name();
  const bool isRounded = tensor.role() == proto::PARAMETER && &program().valueOf(tensor) != &tensor;
  for (const proto::Tensor &average : tables().tensors())
    if (average.average() && average.of() == name && !isRounded)
      ZERO_RT_TRY(writeWhole(average, convert(make, toDType(tensor.dtype()), ZERO_RT_F32)));
  for (const proto::Tensor &parameter : tables().tensors())
    if (tensor.master() && parameter.role() == proto::PARAMETER && parameter.name() == tensor.of())
      ZERO_RT_TRY(writeWhole(parameter,
                             convert(make, toDType(tensor.dtype()), toDType(parameter.dtype()))));
  return {};
}

Status SessionWeights::load(const std::string &path, bool partial, zero_rt_load_result &result) {
  ZERO_RT_TRY(ranks.checkAlive());
  WeightsFile file;
  Status status = WeightsFile::open(path, file);
  if (status.ok())
    status = take(file, quoted(path) + " does", partial, result);
  return ranks.agree("weights", status);
}

Status SessionWeights::load(WeightsFile::Arrays arrays, bool partial, zero_rt_load_result &result) {
  ZERO_RT_TRY(ranks.checkAlive());
  return ranks.agree("weights",
                     take(WeightsFile(std::move(arrays)), "the arrays do", partial, result));
}

/// Takes the values of `file`; `who` "does" not fit the model is how an error begins.
Status SessionWeights::take(const WeightsFile &file, const std::string &who, bool partial,
                            zero_rt_load_result &result) {
  WeightsPlan plan;
  if (Status status = planWeights(tables(), file, partial, ranks.getOptions().verbose, plan);
      !status.ok())
    return fail(status.getCode(), "%s not fit the model: %s", who.c_str(),
                status.getMessage().c_str());
  ranks.meter().begin("weights");
  for (auto &[tensor, get] : plan.taken)
    ranks.meter().expect(bytesOf(program().valueOf(*tensor)));
  for (auto &[tensor, get] : plan.taken) {
    Array array;
    ZERO_RT_TRY(get(array));
    const proto::Tensor &value = program().valueOf(*tensor);
    const DType dtype = isCoded(value) ? ZERO_RT_F32 : toDType(value.dtype());
    ZERO_RT_TRY(writeWhole(value, elementsAs(array, dtype)));
    ranks.meter().add(bytesOf(value));
    awaited.erase(tensor->name());
  }
  ZERO_RT_TRY(takeNorms(plan));
  ranks.meter().end();
  result = {plan.taken.size(), plan.missing, plan.unknown};
  next = plan.remark.empty() ? "" : "weights: left out " + plan.remark;
  return {};
}

/// Gives tensors that begin as norms of a parameter those of its new values, unless they have got
/// values of their own.
Status SessionWeights::takeNorms(const WeightsPlan &plan) {
  std::map<std::string, const WeightsFile::Get *> taken;
  for (const auto &[tensor, get] : plan.taken)
    taken[tensor->name()] = &get;
  for (const proto::Tensor &tensor : tables().tensors()) {
    if (!tensor.init().has_norms() || tensor.role() != proto::PARAMETER ||
        taken.contains(tensor.name()))
      continue;
    const auto of = taken.find(tensor.init().norms().of());
    if (of == taken.end())
      continue;
    Array array;
    ZERO_RT_TRY((*of->second)(array));
    const MakeElements elements = elementsAs(array, ZERO_RT_F32);
    std::vector<float> norms(elementsOf(tensor.shape()));
    ZERO_RT_TRY(findNorms(
        tables(), tensor,
        [&](uint64_t begin, uint64_t count, float *target) {
          elements(begin, count, reinterpret_cast<char *>(target));
          return Status();
        },
        0, norms));
    const proto::Tensor &value = program().valueOf(tensor);
    auto make = [&](uint64_t begin, uint64_t count, char *target) {
      std::memcpy(target, &norms[begin], count * sizeof(float));
    };
    ZERO_RT_TRY(writeWhole(value, convert(make, ZERO_RT_F32, toDType(value.dtype()))));
  }
  return {};
}

const char *SessionWeights::nextRemark() {
  remark = std::move(next);
  next.clear();
  return remark.empty() ? nullptr : remark.c_str();
}

Status SessionWeights::save(const std::string &path) const {
  ZERO_RT_TRY(ranks.checkAlive());
  std::vector<TensorEntry> entries;
  for (const proto::Tensor &tensor : tables().tensors()) {
    const ValueType value = valueTypeOf(program().valueOf(tensor));
    const Persistence persistence = persistenceOf(tensor);
    if (persistence.saved && (tensor.in_model() || !writesModel(path)))
      entries.push_back({tensor.name(),
                         value.dtype,
                         {value.shape.begin(), value.shape.end()},
                         [this, &tensor](uint64_t offset, void *destination, uint64_t bytes) {
                           return read(tensor.name(), {offset, bytes}, destination);
                         },
                         initializerOf(tensor),
                         tensor.init().file().transposed(),
                         persistence.trained && !ranks.getOptions().allow_nan,
                         /*adapter=*/{},
                         fileTypeOf(tensor)});
  }
  WeightsWriter writer;
  WeightsOrigin origin{tables().model(),
                       tables().ort_checkpoint(),
                       adapterConfigOf(tables()),
                       tables().has_training_info() ? int(tables().training_info()) : -1,
                       {tables().files().begin(), tables().files().end()},
                       tables().learning_rate()};
  ZERO_RT_TRY(WeightsWriter::create(path, origin, {}, entries, writer));
  ZERO_RT_TRY(writer.write(entries));
  return writer.commit();
}

} // namespace zero::rt

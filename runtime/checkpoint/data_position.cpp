//===- data_position.cpp - resume the position in the data ----------------===//

#include "runtime/checkpoint/data_position.h"

namespace zero::rt {

using Data = proto::Manifest::Data;

static unsigned long long number(uint64_t count) { return count; }

Data saveDataPosition(const DataSet &data, uint64_t batch) {
  const SampleOrder &order = data.order();
  const SampleOrder::Position position = order.positionOf(batch);
  Data saved;
  saved.set_samples(order.samples());
  saved.set_samples_per_step(order.perStep());
  saved.set_epoch(position.epoch);
  saved.set_index(position.index);
  if (data.shuffleSeed())
    saved.set_shuffle_seed(*data.shuffleSeed());
  return saved;
}

static std::string orderText(std::optional<uint64_t> seed) {
  return seed ? format("shuffled with seed %llu", number(*seed)) : "not shuffled";
}

Status findDataPosition(const Data &saved, const DataSet &data, uint64_t &batch,
                        std::string &remark) {
  const SampleOrder &order = data.order();
  std::optional<uint64_t> seed;
  if (saved.has_shuffle_seed())
    seed = saved.shuffle_seed();
  const bool atStart = saved.epoch() == 0 && saved.index() == 0;
  if (!atStart && saved.samples() != order.samples())
    return fail(ZERO_RT_BAD_DATA,
                "the data is not that of the checkpoint: expected %llu samples, got %llu; restart "
                "the data to read it from the beginning",
                number(saved.samples()), number(order.samples()));
  if (!atStart && seed != data.shuffleSeed())
    return fail(ZERO_RT_BAD_DATA,
                "the data has a different order from that of the checkpoint: expected %s, got %s; "
                "restart the data to read it from the beginning",
                orderText(seed).c_str(), orderText(data.shuffleSeed()).c_str());
  batch = order.stepAt({saved.epoch(), saved.index()});
  if (saved.samples_per_step() != order.perStep()) {
    const SampleOrder::Position next = order.positionOf(batch);
    remark = format("a global batch was %llu samples and is %llu; the data continues at sample "
                    "%llu of epoch %llu, from sample %llu of epoch %llu",
                    number(saved.samples_per_step()), number(order.perStep()), number(next.index),
                    number(next.epoch), number(saved.index()), number(saved.epoch()));
  }
  return {};
}

} // namespace zero::rt

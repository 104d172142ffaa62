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
  saved.set_shuffle_window(data.shuffleWindow());
  for (const double weight : data.weights())
    saved.add_weights(weight);
  return saved;
}

/// "shuffled with seed 7 in windows of 1000 samples, mixed by weights 0.7, 0.3".
static std::string orderText(const Data &data) {
  std::string text = data.has_shuffle_seed()
                         ? format("shuffled with seed %llu", number(data.shuffle_seed()))
                         : "not shuffled";
  if (data.shuffle_window() > 0)
    text += format(" in windows of %llu samples", number(data.shuffle_window()));
  for (int i = 0; i < data.weights_size(); ++i)
    text += format("%s%.9g", i ? ", " : ", mixed by weights ", data.weights(i));
  return text;
}

Status findDataPosition(const Data &saved, const DataSet &data, uint64_t &batch,
                        std::string &remark) {
  const SampleOrder &order = data.order();
  const bool atStart = saved.epoch() == 0 && saved.index() == 0;
  if (!atStart && saved.samples() != order.samples())
    return fail(ZERO_RT_BAD_DATA,
                "the data is not that of the checkpoint: expected %llu samples, got %llu; restart "
                "the data to read it from the beginning",
                number(saved.samples()), number(order.samples()));
  const std::string before = orderText(saved), now = orderText(saveDataPosition(data, 0));
  if (!atStart && before != now)
    return fail(ZERO_RT_BAD_DATA,
                "the data has a different order from that of the checkpoint: expected %s, got %s; "
                "restart the data to read it from the beginning",
                before.c_str(), now.c_str());
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

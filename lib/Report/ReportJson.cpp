//===- ReportJson.cpp - a plan as JSON ------------------------------------===//

#include "zero/Report/PlanReport.h"

#include "zero/Page/Page.h"

#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero {

/// Tensors that a report lists: a page of more is slow to open and shows no more.
static constexpr size_t kMostTensors = 20000;

/// Names come from the model: whatever bytes they have, the text is UTF-8.
static std::string utf8(StringRef text) { return llvm::json::fixUTF8(text); }

static void writeVolume(llvm::json::OStream &json, const CollectiveVolume &volume) {
  json.attribute("forward", volume.forward);
  json.attribute("backward", volume.backward);
  json.attribute("update", volume.update);
  json.attribute("gradients", volume.gradients);
  json.attribute("total", volume.total());
  json.attribute("received", volume.received);
  json.attribute("received_within_node", volume.withinNode);
  json.attribute("received_across_nodes", volume.acrossNodes);
  json.attribute("paper_times", volume.paperTimes);
  json.attribute("paper", volume.paper);
  if (const auto &causes = volume.causes)
    json.attributeObject("causes", [&] {
      json.attribute("gathered_again", causes->regathered);
      json.attribute("not_read_in_backward", causes->notReadInBackward);
      json.attribute("not_trained", causes->notTrained);
      json.attribute("kept_whole", causes->unsharded);
      json.attribute("padding", causes->padding);
      json.attribute("in_blocks", causes->inBlocks);
      json.attribute("across_nodes", causes->acrossNodes);
      json.attribute("whole_gradients", causes->wholeGradients);
      json.attribute("read_again", volume.again);
    });
}

/// The certificate of one tier.
static void writeArena(llvm::json::OStream &json, const ArenaSummary &plan) {
  json.attribute("arena_bytes", plan.arena);
  json.attribute("lower_bound_bytes", plan.lowerBound);
  json.attribute("optimal", plan.isOptimal);
  json.attribute("ratio", plan.lowerBound ? double(plan.arena) / plan.lowerBound : 1.0);
  json.attribute("alignment_bytes", alignmentOf(plan.tier));
  json.attributeArray("roles", [&] {
    for (auto [index, role] : llvm::enumerate(plan.roles))
      json.object([&, index = index, &role = role] {
        json.attribute("name", usageName(Usage(index)));
        json.attribute("most_bytes", role.most);
        json.attribute("at_peak_bytes", role.atPeak);
      });
  });
}

static void writeTransfers(llvm::json::OStream &json, const PlanSummary &plan) {
  using planning::Link;
  json.attribute("device_to_host", plan.movedOver(Link::DeviceToHost));
  json.attribute("host_to_device", plan.movedOver(Link::HostToDevice));
  json.attribute("nvme_read", plan.movedOver(Link::DiskRead));
  json.attribute("nvme_written", plan.movedOver(Link::DiskWrite));
}

/// What is 0 is not known.
static void writeDrives(llvm::json::OStream &json, const planning::DriveWear &wear) {
  json.attribute("count", wear.count);
  json.attribute("read_per_step", wear.read);
  json.attribute("written_per_step", wear.written);
  json.attribute("step_seconds", wear.seconds);
  json.attribute("written_per_day", wear.writtenPerDay());
  json.attribute("endurance", wear.endurance);
  json.attribute("years", wear.years());
}

static void writeAxisVolume(llvm::json::OStream &json, StringRef name,
                            const std::optional<AxisVolume> &volume) {
  if (!volume)
    return;
  json.attributeObject(name, [&] {
    json.attribute("forward", volume->forward);
    json.attribute("backward", volume->backward);
    json.attribute("recomputed", volume->again);
    json.attribute("gathered_again", volume->regathered);
    json.attribute("saved", volume->saved);
    json.attribute("update", volume->update);
    json.attribute("total", volume->total());
  });
}

static void writeSummary(llvm::json::OStream &json, const PlanSummary &plan) {
  json.attribute("stage", plan.stage);
  json.attribute("ranks", plan.ranks * plan.tensorRanks);
  if (plan.contextRanks > 1 || plan.tensorRanks > 1)
    json.attributeObject("mesh", [&] {
      json.attribute("data", plan.ranks / plan.contextRanks);
      if (plan.contextRanks > 1)
        json.attribute("context", plan.contextRanks);
      json.attribute("tensor", plan.tensorRanks);
    });
  json.attribute("micro_batches", plan.microBatches);
  json.attribute("parameters", plan.parameters);
  json.attribute("trained_parameters", plan.trained);
  json.attribute("precision", plan.precision.empty() ? "f32" : plan.precision);
  if (plan.microBatches > 1)
    json.attribute("gradient_sums", plan.gradPrecision.empty() ? "f32" : plan.gradPrecision);
  json.attribute("optimizer", utf8(plan.optimizer));
  json.attributeArray("stored", [&] {
    for (const StoredBytes &row : plan.stored)
      json.object([&] {
        json.attribute("role", usageName(row.usage));
        json.attribute("type", row.type);
        json.attribute("bytes", row.bytes);
      });
  });
  json.attribute("state_bytes", plan.stateBytes);
  json.attribute("paper_state_bytes", plan.paperStateBytes);
  if (plan.processArenas)
    json.attributeObject("process", [&] {
      json.attribute("arenas", plan.processArenas);
      json.attribute("beside", plan.processBeside);
    });
  if (!plan.shapes.empty())
    json.attributeArray("shapes", [&] {
      for (const ShapeArenas &shape : plan.shapes)
        json.object([&] {
          json.attribute("shape", utf8(shape.shape));
          for (Tier tier : kTiers)
            json.attribute((stringifyTier(tier) + "_bytes").str(), shape.bytes[unsigned(tier)]);
        });
    });
  if (plan.volume)
    json.attributeObject("volume", [&] { writeVolume(json, *plan.volume); });
  if (const auto &owners = plan.owners)
    json.attributeObject("owners", [&] {
      json.attribute("tensors", owners->tensors);
      json.attribute("of_all_ranks", owners->ofAllRanks);
      json.attribute("busiest_operations", owners->most);
      json.attribute("mean_operations", owners->operations / double(plan.ranks));
      json.attribute("elements", owners->elements);
      json.attribute("stored_elements", owners->stored);
    });
  writeAxisVolume(json, "tensor_volume", plan.tensorVolume);
  writeAxisVolume(json, "context_volume", plan.contextVolume);
}

static void writeCommands(llvm::json::OStream &json, const MemoryMap &memory) {
  json.attributeArray("commands", [&] {
    for (const MappedCommand &command : memory.commands)
      json.object([&] {
        json.attribute("name", utf8(command.name));
        json.attribute("kind", utf8(command.kind));
        json.attribute("part", stepPartName(command.part));
        json.attribute("scope", utf8(command.scope));
      });
  });
}

/// Rows where the sums change: the command, then bytes by role.
static void writeLive(llvm::json::OStream &json, const TierMap &memory) {
  json.attribute("peak_command", memory.peak);
  json.attributeArray("live", [&] {
    for (size_t i = 0; i < memory.live.size(); ++i)
      if (i == 0 || memory.live[i] != memory.live[i - 1])
        json.array([&] {
          json.value(int64_t(i));
          for (int64_t bytes : memory.live[i])
            json.value(bytes);
        });
  });
}

static void writeTensor(llvm::json::OStream &json, const MappedTensor &tensor) {
  json.attribute("name", utf8(tensor.name));
  json.attribute("kind", tensor.kind);
  json.attribute("type", tensor.type);
  json.attribute("scope", utf8(tensor.scope));
  json.attribute("role", int64_t(tensor.usage));
  json.attribute("bytes", tensor.bytes);
  json.attribute("offset", tensor.offset);
  json.attribute("begin", tensor.begin);
  json.attribute("end", tensor.end);
}

/// The largest ones, in order of their beginning, and how many were left out.
static void writeTensors(llvm::json::OStream &json, const TierMap &memory) {
  std::vector<const MappedTensor *> tensors;
  for (const MappedTensor &tensor : memory.tensors)
    tensors.push_back(&tensor);
  llvm::stable_sort(tensors, [](auto *a, auto *b) { return a->bytes > b->bytes; });
  size_t listed = std::min(tensors.size(), kMostTensors);
  json.attribute("tensors_left_out", int64_t(tensors.size() - listed));
  json.attribute("left_out_bytes_at_most",
                 listed < tensors.size() ? tensors[listed]->bytes : int64_t(0));
  tensors.resize(listed);
  llvm::stable_sort(tensors, [](auto *a, auto *b) { return a->begin < b->begin; });
  json.attributeArray("tensors", [&] {
    for (const MappedTensor *tensor : tensors)
      json.object([&] { writeTensor(json, *tensor); });
  });
}

/// Writes the data of one tier: its bytes over time, by tensors.
static void writeTier(llvm::json::OStream &json, const ArenaSummary &plan, const TierMap &memory) {
  writeArena(json, plan);
  writeLive(json, memory);
  writeTensors(json, memory);
}

/// Writes the tiers besides the device, if there are any, and the transfers between all.
static void writeOtherTiers(llvm::json::OStream &json, const PlanReport &report) {
  if (report.summary.others.empty())
    return;
  json.attributeArray("tiers", [&] {
    for (const ArenaSummary &plan : report.summary.others)
      json.object([&] {
        json.attribute("name", stringifyTier(plan.tier));
        writeTier(json, plan, report.memory.tiers[unsigned(plan.tier)]);
      });
  });
  json.attributeObject("moved", [&] { writeTransfers(json, report.summary); });
  if (const auto &drives = report.summary.drives)
    json.attributeObject("drives", [&] { writeDrives(json, *drives); });
}

static void writeDecisions(llvm::json::OStream &json, ArrayRef<DecisionLog::Entry> decisions) {
  for (const DecisionLog::Entry &entry : decisions)
    json.object([&] {
      json.attribute("category", utf8(entry.category));
      json.attribute("name", utf8(entry.name));
      json.attribute("text", utf8(entry.text));
      if (entry.bytes)
        json.attribute("bytes", *entry.bytes);
      if (entry.seconds)
        json.attribute("seconds", *entry.seconds);
    });
}

std::string reportAsJson(const PlanReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("format", "zero-plan");
    json.attribute("version", 1);
    json.attribute("model", utf8(report.model));
    writeSummary(json, report.summary);
    writeCommands(json, report.memory);
    writeTier(json, report.summary, report.memory.tiers.front());
    writeOtherTiers(json, report);
    json.attributeArray("decisions", [&] { writeDecisions(json, report.decisions); });
  });
  return embeddable(text);
}

} // namespace zero

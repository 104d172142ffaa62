//===- ConfigZero.cpp - zero_optimization, precision and the rest ---------===//

#include "ConfigParts.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;

namespace zero {

/// The tier that the block `key`, or `oldKey` of older releases of DeepSpeed, offloads to. The
/// directory of its disk is not a property of the program: it is an option of zero-run.
static void readOffload(Config &config, ConfigBlock &zero, StringRef key, StringRef oldKey,
                        StringRef flag) {
  ConfigBlock offload = zero.readBlock(key);
  if (std::optional<std::string> device = offload.readWord("device")) {
    StringRef tier = StringSwitch<StringRef>(*device)
                         .Case("none", "device")
                         .Case("cpu", "host")
                         .Case("nvme", "nvme")
                         .Default("");
    if (tier.empty())
      offload.refuse("device", "none, cpu or nvme");
    else if (tier != "device" || config.givenValue(flag))
      offload.set("device", flag, tier);
  }
  offload.tie("device", flag);
  offload.expect("ratio", {"1"}, "one tier holds all optimizer state or parameters");
  offload.ignore("nvme_path buffer_count buffer_size max_in_cpu pin_memory pipeline_read "
                 "pipeline_write pipeline fast_init super_offload cpuadam_cores_perc");
  offload.finish();
  if (zero.readBool(oldKey) != true)
    return;
  if (zero.has(key))
    config.fail("expected one of " + zero.pathOf(key) + " and " + zero.pathOf(oldKey) +
                ", got both");
  zero.set(oldKey, flag, "host");
}

/// Bytes of an element of a parameter as it is stored.
static uint64_t elementBytes(const Config &config) {
  return config.valueOf("precision").value_or("fp32") == "fp32" ? 4 : 2;
}

/// Our one kind of bucket bounds both. Its bytes are those of stored parameters. At stage
/// 3 a bucket is also what is gathered at once, of which these keys say nothing.
static void readBuckets(Config &config, ConfigBlock &zero) {
  StringRef keys[] = {"reduce_bucket_size", "allgather_bucket_size"};
  if (config.valueOf("zero-stage") == StringRef("3"))
    return zero.ignore("reduce_bucket_size allgather_bucket_size");
  std::optional<uint64_t> reduce = zero.readCount(keys[0]), gather = zero.readCount(keys[1]);
  for (StringRef key : keys)
    zero.tie(key, "bucket-bytes");
  if (!reduce && !gather)
    return;
  bool isReduce = reduce.value_or(UINT64_MAX) <= gather.value_or(UINT64_MAX);
  StringRef key = isReduce ? keys[0] : keys[1];
  uint64_t elements = isReduce ? *reduce : *gather;
  if (elements == 0)
    return zero.refuse(key, "at least 1");
  zero.set(key, "bucket-bytes", std::to_string(elements * elementBytes(config)));
}

/// Elements of parameters, in bytes as they are stored, for a flag that only stage 3 has.
static void readStage3Bytes(Config &config, ConfigBlock &zero, StringRef key, StringRef flag) {
  if (config.valueOf("zero-stage") != StringRef("3"))
    return zero.ignore(key);
  constexpr uint64_t kAll = uint64_t(1) << 60;
  if (std::optional<uint64_t> elements = zero.readCount(key); elements && *elements)
    zero.set(key, flag, std::to_string(std::min(*elements, kAll) * elementBytes(config)));
  zero.tie(key, flag);
}

/// The ranks of a node, which have all parameters between them (hpZ of ZeRO++).
static void readNodes(ConfigBlock &zero) {
  StringRef key = "zero_hpz_partition_size";
  std::optional<uint64_t> ranks = zero.readCount(key);
  if (!ranks || *ranks <= 1)
    return;
  zero.set(key, "shard-params", "node");
  zero.set(key, "ranks-per-node", std::to_string(*ranks));
}

void readZero(Config &config, ConfigBlock &top) {
  ConfigBlock zero = top.readBlock("zero_optimization");
  zero.take("stage");
  readBuckets(config, zero);
  readStage3Bytes(config, zero, "stage3_param_persistence_threshold", "persist-under");
  readStage3Bytes(config, zero, "stage3_prefetch_bucket_size", "prefetch-bytes");
  readOffload(config, zero, "offload_param", "cpu_offload_param", "offload-params");
  readOffload(config, zero, "offload_optimizer", "cpu_offload", "offload-optimizer");
  for (StringRef key : {"zero_quantized_weights", "zero_quantized_nontrainable_weights",
                        "zero_quantized_gradients"})
    zero.expect(key, {"false"}, "quantization is not supported");
  zero.expect("zeropp_loco_param", {"null"}, "quantization is not supported");
  readNodes(zero);
  zero.expect("mics_shard_size", {"-1", "0"}, "state is sharded over all ranks");
  zero.expect("zenflow", {"null"}, "delayed updates are not supported");
  zero.ignore("allgather_partitions contiguous_gradients cpu_offload_use_pin_memory "
              "elastic_checkpoint enable_sanity_checks grad_hooks ignore_unused_parameters "
              "leaf_module legacy_stage1 load_from_fp32_weights log_trace_cache_warnings "
              "memory_efficient_linear mics_hierarchical_params_gather overlap_comm "
              "override_module_apply pipeline_loading_checkpoint reduce_scatter "
              "round_robin_gradients save_muon_momentum_buffer_in_memory "
              "stage3_allgather_sequential stage3_gather_16bit_weights_on_model_save "
              "stage3_gather_fp16_weights_on_model_save stage3_max_live_parameters "
              "stage3_max_reuse_distance stage3_model_persistence_threshold "
              "stage3_module_granularity_threshold stage3_use_all_reduce_for_fetch_params "
              "sub_group_size use_multi_rank_bucket_allreduce");
  zero.finish();
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

/// Takes "enabled" of the block of `precision`.
static bool readEnabled(Config &config, ConfigBlock &block, StringRef precision) {
  std::optional<bool> enabled = block.readBool("enabled");
  block.tie("enabled", "precision");
  if (enabled == true)
    block.set("enabled", "precision", precision);
  if (enabled == false && config.givenValue("precision") == precision)
    config.fail(block.pathOf("enabled") + "=false contradicts --precision=" + precision);
  return enabled == true;
}

/// How the loss is scaled. With a fixed scale the rest has no effect, here and there.
static void readLossScale(Config &config, ConfigBlock &fp16, bool isUsed) {
  fp16.take("loss_scale", isUsed);
  double fixed = 0;
  const bool isDynamic =
      isUsed && parseReal(config.valueOf("loss-scale").value_or("0"), fixed) && fixed == 0;
  std::optional<uint64_t> power = fp16.readCount("initial_scale_power");
  if (isDynamic && power && *power > 126)
    fp16.refuse("initial_scale_power", "at most 126");
  else if (isDynamic && power)
    fp16.set("initial_scale_power", "initial-loss-scale", exactNumber(std::ldexp(1.0, *power)));
  fp16.take("loss_scale_window", isDynamic);
  fp16.take("hysteresis", isDynamic);
  if (isDynamic && !fp16.has("hysteresis"))
    config.setDefault("loss-scale-hysteresis", "2");
  fp16.take("min_loss_scale", isDynamic);
}

/// The type of sums over ranks. In fp32 there is nothing to choose.
static void readReduction(Config &config, ConfigBlock &top) {
  StringRef key = "communication_data_type";
  std::optional<std::string> type = top.readWord(key);
  top.tie(key, "reduce-dtype");
  if (!type)
    return;
  if (*type != "fp32" && *type != "fp16" && *type != "bf16")
    return top.refuse(key, "fp32, fp16 or bf16");
  if (config.valueOf("precision").value_or("fp32") != "fp32" || *type != "fp32")
    top.set(key, "reduce-dtype", *type);
}

void readPrecision(Config &config, ConfigBlock &top) {
  constexpr StringLiteral kMaster = "optimizer states and master weights are fp32";
  ConfigBlock fp16 = top.readBlock("fp16");
  // DeepSpeed takes the old name of the block, too.
  StringRef name = top.has("bfloat16") && !top.has("bf16") ? "bfloat16" : "bf16";
  ConfigBlock bf16 = top.readBlock(name);
  bool isFp16 = readEnabled(config, fp16, "fp16"), isBf16 = readEnabled(config, bf16, "bf16");
  if (isFp16 && isBf16)
    config.fail("expected one of fp16.enabled and " + bf16.pathOf("enabled") + ", got both");
  readLossScale(config, fp16, config.valueOf("precision") == StringRef("fp16"));
  fp16.expect("consecutive_hysteresis", {"false"}, "consecutive hysteresis is not supported");
  fp16.expect("fp16_master_weights_and_grads", {"false"}, kMaster);
  fp16.ignore("auto_cast");
  fp16.finish();
  bf16.expect("bf16_master_weights_and_grads", {"false"}, kMaster);
  bf16.expect("bf16_optimizer_states", {"false"}, kMaster);
  bf16.ignore("check_grad_overflow immediate_grad_update");
  bf16.finish();
  readReduction(config, top);
  top.expectDisabled("amp", "use fp16 or bf16");
  top.expectDisabled("torch_autocast", "use fp16 or bf16");
  ConfigBlock types = top.readBlock("data_types");
  types.expect("grad_accum_dtype", {"\"fp32\""}, "gradients are accumulated in fp32");
  types.finish();
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

void readRest(Config &config, ConfigBlock &top) {
  top.take("gradient_clipping");
  ConfigBlock recompute = top.readBlock("activation_checkpointing");
  if (recompute.readBool("cpu_checkpointing").value_or(false))
    recompute.set("cpu_checkpointing", "offload-activations", "host");
  recompute.ignore("partition_activations contiguous_memory_optimization number_checkpoints "
                   "synchronize_checkpoint_boundary profile");
  recompute.finish();

  constexpr StringLiteral kData = "data schedules are not supported";
  constexpr StringLiteral kModel = "changes of the model are not supported";
  for (StringRef key : {"curriculum_learning", "data_efficiency"})
    top.expectDisabled(key, kData);
  top.expectDisabled("progressive_layer_drop", kModel);
  top.expectDisabled("quantize_training", kModel);
  top.expectDisabled("elasticity", "the number of ranks is fixed");
  top.expectDisabled("expert_parallel", "only data parallelism is supported");
  top.expect("sparse_attention", {"null"}, kModel);
  top.expect("compression_training", {"null"}, kModel);
  top.expect("tensor_parallel", {"null"}, "only data parallelism is supported");
  top.expect("sequence_parallel_size", {"1"}, "only data parallelism is supported");
  top.expect("gradient_allreduce_op", {"\"mean\""}, "gradients are averaged over ranks");
  top.ignore("aio autotuning checkpoint comet comms_logger compile csv_monitor "
             "data_parallel_group dataloader_drop_last disable_allgather dump_state "
             "eigenvalue flops_profiler gradient_predivide_factor graph_harvesting "
             "hybrid_engine log_level managed_gradient_accumulation memory_breakdown "
             "monitor_config nebula pipeline prescale_gradients "
             "seq_parallel_communication_data_type sparse_gradients steps_per_print "
             "tensorboard timers use_data_before_expert_parallelism vocabulary_size "
             "wall_clock_breakdown wandb zero_allow_untested_optimizer "
             "zero_force_ds_cpu_optimizer");
}

} // namespace zero

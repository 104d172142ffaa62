"""The keywords of zero.compile(): the flags of zeroc.

scripts/list-python-flags.py writes this file from `zeroc --list-flags`; test/python/flags.test
compares them."""

from collections import namedtuple
from os import PathLike
from typing import Any, Literal, Sequence, TypedDict, Union

# The flag; what its value is: switch, integer, number, bytes, word or text; the name of the value,
# or its words; what it means.
Flag = namedtuple("Flag", "flag kind value meaning")
_Path = Union[str, PathLike]

FLAGS = {
    "emit_onnx": Flag(
        "emit-onnx", "text", "FILE",
        "write the training step, with gradients and updates, as plain ONNX operators; state is "
        "inputs IN and outputs IN.new"),
    "external_data": Flag(
        "external-data", "switch", "",
        "--emit-onnx: write tensors to FILE.data (only if there is more than 1 GB of them)"),
    "offload": Flag(
        "offload", "text", "auto",
        "with a budget: the tiers of parameters (at stage 3), gradients, optimizer state and "
        "activations are chosen, unless their own flags say them"),
    "plan_only": Flag(
        "plan-only", "switch", "",
        "stop after planning: read no data files, write no executable"),
    "report": Flag(
        "report", "text", "FILE,...",
        "write the plan as a web page (.html) or as JSON (.json)"),
    "witness": Flag(
        "witness", "text", "FILE",
        "write where each parameter, gradient and state goes, and the commands, as JSON"),
    "lr": Flag(
        "lr", "number", "X",
        "learning rate unless zero-run --lr sets one (1e-3)"),
    "config": Flag(
        "config", "text", "FILE",
        "read settings from a DeepSpeed JSON file; see docs/reference/config.md"),
    "explain_config": Flag(
        "explain-config", "switch", "",
        "print what each key of --config became, and stop; needs no model"),
    "run_steps": Flag(
        "run-steps", "integer", "N",
        "steps of the run, which zero-run says: --total-steps where --config leaves it to the run"),
    "dump_after": Flag(
        "dump-after", "text", "PHASE",
        "print the program after this phase"),
    "clean_after_phases": Flag(
        "clean-after-phases", "switch", "",
        "run MLIR's canonicalizer, CSE, symbol-dce and loop-invariant code motion after each "
        "phase"),
    "gpu_arch": Flag(
        "gpu-arch", "text", "sm_80,...",
        "GPU architectures that --device=cuda compiles for (sm_80,sm_90,sm_100)"),
    "nvme_dir": Flag(
        "nvme-dir", "text", "DIR,...",
        "directories of the nvme tier, one on each drive: plan with their speed, measured once "
        "and cached"),
    "threads": Flag(
        "threads", "integer", "N",
        "threads that compile kernels (2)"),
    "cache_dir": Flag(
        "cache-dir", "text", "DIR",
        "directory of the cache of compiled kernels ($XDG_CACHE_HOME/zero, or ~/.cache/zero)"),
    "no_cache": Flag(
        "no-cache", "switch", "",
        "compile every kernel and do not use the cache"),
    "shape": Flag(
        "shape", "text", "4x32|NAME=4x32,...",
        "sequences of a batch and tokens of a sequence, or bind the symbolic dimensions of inputs"
        " by name; '4x{64,32}', or the flag given twice, compiles a program for each shape"),
    "documents": Flag(
        "documents", "switch", "",
        "a sequence has several documents: adds the input position_ids, the position of each "
        "token in its document; no token attends to another document"),
    "roles": Flag(
        "roles", "text", "FILE",
        "names and roles of a program's arguments and results, as JSON"),
    "loss": Flag(
        "loss", "text", "NAME",
        "train on this output of the model"),
    "carry": Flag(
        "carry", "text", "IN=OUT,...|@FILE",
        "the model is a whole training step: its input IN is state, and its output OUT the state "
        "of the next step; both may have one *"),
    "zeros": Flag(
        "zeros", "text", "PATTERN,...",
        "carried inputs without an initializer that start as zero"),
    "tie": Flag(
        "tie", "text", "A=B,...",
        "inputs A and B of a program are one tensor, as tied weights are"),
    "training_info": Flag(
        "training-info", "text", "N|none",
        "train as training_info N of the model says, counted from 0; none: ignore it"),
    "keep_initializers": Flag(
        "keep-initializers", "switch", "",
        "begin with the initializers of the model: its training_info does not initialize them"),
    "ort_optimizer": Flag(
        "ort-optimizer", "text", "FILE",
        "the model is a training model of onnxruntime-training, and FILE its optimizer model"),
    "ort_checkpoint": Flag(
        "ort-checkpoint", "text", "FILE",
        "a checkpoint of onnxruntime-training has the values of parameters"),
    "allow_symlinks": Flag(
        "allow-symlinks", "switch", "",
        "follow symbolic links to external data"),
    "activation_budget": Flag(
        "activation-budget", "bytes", "bytes",
        "maximum bytes of the memory budget for inputs and for activations that are saved for "
        "backward"),
    "allow_precision": Flag(
        "allow-precision", "text", "SUBJECT:precision,...",
        "with a budget: precisions that may be used if no plan fits without them, those that "
        "change numbers least first: frozen:bf16, grads:bf16, state:bf16, frozen:int8, "
        "state:8bit, masters:none, state:4bit or frozen:nf4"),
    "alpha": Flag(
        "alpha", "number", "number",
        "decay rate of the mean of squares: rmsprop (0.99)"),
    "attention": Flag(
        "attention", "word", "fused|products",
        "attention as one kernel where the device has one (fused), or as products and a softmax, "
        "whose weights are saved for backward (fused)"),
    "beta2": Flag(
        "beta2", "number", "number",
        "decay rate of the statistics: shampoo (0.99)"),
    "beta2_decay": Flag(
        "beta2-decay", "number", "number",
        "exponent d of the weight t^d of a new gradient after t updates: adafactor (-0.8)"),
    "betas": Flag(
        "betas", "number", "number,number",
        "decay rates of the moments: adam, adamw and lamb (0.9,0.999), lion (0.9,0.99)"),
    "bucket_bytes": Flag(
        "bucket-bytes", "bytes", "bytes",
        "maximum size of a bucket of parameters (25MB)"),
    "centered": Flag(
        "centered", "switch", "",
        "divide by the standard deviation: rmsprop"),
    "checkpoint": Flag(
        "checkpoint", "word", "none|layer|sqrt|auto",
        "activation checkpointing: save everything that backward reads (none), or only the values"
        " between layers (layer) or between groups of layers (sqrt) and recompute the rest; auto:"
        " decide for each value, within a budget (none; with a budget auto)"),
    "checkpoint_slots": Flag(
        "checkpoint-slots", "integer", "N",
        "save the inputs of at most N layers at a time (0: see --checkpoint)"),
    "clip_by_previous": Flag(
        "clip-by-previous", "switch", "",
        "with --clip-norm: scale by the norm of the step before, so that updates need not wait "
        "for all gradients; the first step is not scaled"),
    "clip_norm": Flag(
        "clip-norm", "number", "number",
        "scale gradients down to this global norm (0: do not clip)"),
    "clip_threshold": Flag(
        "clip-threshold", "number", "number",
        "maximum RMS of an update before scaling: adafactor (1)"),
    "dampening": Flag(
        "dampening", "number", "number",
        "dampening of the momentum: sgd (0)"),
    "data_root": Flag(
        "data-root", "text", "directory",
        "directory of the data files that the model references (that of the model)"),
    "decay_form": Flag(
        "decay-form", "word", "linear|cosine|sqrt",
        "wsd: how the rate falls: linear, cosine or sqrt (1 - sqrt) (linear)"),
    "decay_steps": Flag(
        "decay-steps", "integer", "N",
        "wsd: steps at the end in which the rate falls (0)"),
    "delay_updates": Flag(
        "delay-updates", "switch", "",
        "run updates of offloaded state that wait for all gradients beside forward of the next "
        "step, with the same numbers; saves and evaluations run them first"),
    "device": Flag(
        "device", "word", "cpu|cuda",
        "device of the kernels: cpu or cuda (cpu)"),
    "disk_count": Flag(
        "disk-count", "integer", "integer",
        "drives of the nvme tier, over which the bytes of a step are spread evenly (0: those of "
        "--nvme-dir, or as --machine says)"),
    "disk_mixed": Flag(
        "disk-mixed", "bytes", "bytes",
        "bandwidth of that disk while it reads and writes at the same time, both together (0: as "
        "--machine says)"),
    "disk_read": Flag(
        "disk-read", "bytes", "bytes",
        "read bandwidth of the disk of the nvme tier in bytes per second, for all ranks together "
        "(0: as --machine says)"),
    "disk_write": Flag(
        "disk-write", "bytes", "bytes",
        "write bandwidth of that disk (0: as --machine says)"),
    "dora": Flag(
        "dora", "switch", "",
        "also train the magnitudes of adapted weights: one number for each output, to which their"
        " norm is scaled (DoRA)"),
    "drive_writes": Flag(
        "drive-writes", "text", "bytes/day",
        "maximum bytes that the ranks of a node write to its drives in a day of steps of the "
        "planned time, as in 2TB/day (0: no limit)"),
    "ema": Flag(
        "ema", "text", "DECAY|mean",
        "keep an average of each trained parameter over updates: exponential with this decay, or "
        "the mean"),
    "ema_every": Flag(
        "ema-every", "integer", "N",
        "updates from one value that counts in the averages to the next (1)"),
    "ema_start": Flag(
        "ema-start", "integer", "N",
        "the first update whose values count in the averages (1)"),
    "eps": Flag(
        "eps", "number", "number",
        "added to the denominator: adagrad (1e-10), adam, adamw, lamb and rmsprop (1e-08); "
        "minimum of the norm of a matrix: muon (1e-07); added to the eigenvalues of statistics, "
        "relative to their norm: shampoo (1e-05)"),
    "eps_pair": Flag(
        "eps-pair", "number", "number,number",
        "minimum of the root of a second moment, and of the RMS of a parameter: adafactor "
        "(1.19209e-07,0.001)"),
    "forward_only": Flag(
        "forward-only", "switch", "",
        "compile the model for inference: all outputs, no training"),
    "freeze": Flag(
        "freeze", "text", "pattern,...",
        "do not train parameters that match these globs"),
    "freeze_all_but": Flag(
        "freeze-all-but", "text", "pattern,...",
        "train only the parameters that match these globs"),
    "frozen_precision": Flag(
        "frozen-precision", "word", "bf16|fp16|nf4|int8|fp8",
        "store frozen parameters in 16 bits, bf16 or fp16, or their matrices in blocks of codes "
        "of 4 or 8 bits, nf4, int8 or fp8, the others in 16 bits (like the other parameters)"),
    "grad_precision": Flag(
        "grad-precision", "word", "f32|bf16",
        "how sums of gradients over micro-batches are stored: f32, or bf16, rounded at random "
        "(f32)"),
    "grad_reduce": Flag(
        "grad-reduce", "word", "last|each",
        "stages 0 and 1, or a vertical order of micro-batches: sum gradients over ranks after the"
        " last micro-batch or after each (last)"),
    "graft": Flag(
        "graft", "text", "none|sgd|rmsprop",
        "the norm of a step: its own, that of the gradient, or that of RMSprop's step: shampoo "
        "(none)"),
    "host_budget": Flag(
        "host-budget", "bytes", "bytes",
        "maximum bytes of host memory per rank for offloaded values (0: no limit)"),
    "init": Flag(
        "init", "text", "scheme",
        "draw the initial values of parameters: normal:STD, uniform:BOUND, xavier-normal, "
        "xavier-uniform, kaiming-normal or kaiming-uniform. Vectors are 1 if they scale, else 0. "
        "Data of the model's parameters is not read and may be missing"),
    "initial_accumulator_value": Flag(
        "initial-accumulator-value", "number", "number",
        "initial value of the sums of squares: adagrad (0)"),
    "initial_loss_scale": Flag(
        "initial-loss-scale", "number", "number",
        "fp16: initial value of the dynamic loss scale (65536)"),
    "largest_side": Flag(
        "largest-side", "number", "number",
        "most rows or columns of a matrix; another optimizer updates larger ones: shampoo (8192)"),
    "lengths": Flag(
        "lengths", "text", "file|folder",
        "the lengths of the documents that share rows, for the time of attention: a file with a "
        "line LENGTH COUNT for each length, or a folder of tokens"),
    "logits_bytes": Flag(
        "logits-bytes", "bytes", "bytes",
        "maximum bytes of logits of the loss at a time, in tiles of rows (0: 8 MiB, but at least "
        "256 rows; on GPUs 256 MiB)"),
    "lora": Flag(
        "lora", "text", "pattern,...",
        "freeze the model and train low-rank adapters (LoRA) of the products of these modules: "
        "ends of their names, as q_proj, globs, or all-linear: all products but those of output "
        "layers"),
    "lora_alpha": Flag(
        "lora-alpha", "number", "number",
        "scale of adapters, which is divided by their rank (16)"),
    "lora_dropout": Flag(
        "lora-dropout", "number", "number",
        "share of the inputs of adapters that are set to 0 (0)"),
    "lora_init": Flag(
        "lora-init", "word", "kaiming-uniform|gaussian",
        "initial values of A, as PEFT draws them; B is 0 (kaiming-uniform)"),
    "lora_rank": Flag(
        "lora-rank", "integer", "N",
        "rows of A and columns of B of an adapter, which adds alpha / rank * B A x (8)"),
    "loss_mean": Flag(
        "loss-mean", "word", "global|local",
        "average the loss over the labels of all ranks, or over each rank's labels and then over "
        "ranks (global)"),
    "loss_scale": Flag(
        "loss-scale", "number", "number",
        "fp16: fixed loss scale; 0: dynamic (0)"),
    "loss_scale_hysteresis": Flag(
        "loss-scale-hysteresis", "integer", "N",
        "fp16: overflows after which the scale halves (1)"),
    "loss_scale_window": Flag(
        "loss-scale-window", "integer", "N",
        "fp16: steps without overflow after which the scale doubles (1000)"),
    "lr_cycles": Flag(
        "lr-cycles", "integer", "N",
        "cosine-restarts: number of half cosines (1)"),
    "lr_decay": Flag(
        "lr-decay", "number", "number",
        "decay of the learning rate with the number of updates: adagrad (0)"),
    "lr_points": Flag(
        "lr-points", "text", "STEP:FACTOR,...",
        "points: factors on --lr after so many updates, with lines between them"),
    "lr_power": Flag(
        "lr-power", "number", "number",
        "polynomial: exponent of what is left of the steps (1)"),
    "lr_schedule": Flag(
        "lr-schedule", "word", "constant|linear|cosine|cosine-restarts|polynomial|wsd|inverse-sqrt|points",
        "learning rate after the warm-up: constant, down to --min-lr-ratio (linear, cosine, "
        "cosine-restarts, polynomial; wsd: in the last --decay-steps), inverse-sqrt, or between "
        "--lr-points (constant)"),
    "machine": Flag(
        "machine", "text", "name|file",
        "the machine whose speed plans assume: a preset or a file written by zero-run --calibrate"
        " (cpu, for GPUs h100)"),
    "master_weights": Flag(
        "master-weights", "word", "f32|none|nearest",
        "values of 16-bit parameters that the optimizer updates: f32, or none: their own, of bf16"
        " rounded up or down at random; or nearest: rounded to nearest (f32)"),
    "matrix_params": Flag(
        "matrix-params", "text", "pattern,...",
        "an optimizer of matrices updates parameters that match these globs, too, beside the "
        "hidden matrices"),
    "memory_budget": Flag(
        "memory-budget", "bytes", "bytes",
        "maximum device bytes per rank: choose the fastest plan that fits by the cost model, or "
        "fail"),
    "mesh": Flag(
        "mesh", "text", "data=N,context=N,tensor=N",
        "ranks along axes: those along data have different parts of the batch, those along "
        "context of its sequences, those along tensor hold shards of parameters and activations "
        "(data=--ranks, or that of a JAX program)"),
    "micro_batch_order": Flag(
        "micro-batch-order", "word", "horizontal|vertical|auto",
        "run each micro-batch as a whole (horizontal), or each part of the step for all "
        "micro-batches, which fetches parameters once a step but saves the activations of all of "
        "them (vertical); auto: chosen within a budget (horizontal)"),
    "micro_batches": Flag(
        "micro-batches", "integer", "N",
        "micro-batches whose gradients one step accumulates (1)"),
    "min_loss_scale": Flag(
        "min-loss-scale", "number", "number",
        "fp16: minimum of the dynamic loss scale (1)"),
    "min_lr_ratio": Flag(
        "min-lr-ratio", "number", "number",
        "final learning rate of one that falls, as a fraction of --lr (0)"),
    "momentum": Flag(
        "momentum", "number", "number",
        "momentum: muon (0.95), rmsprop and sgd (0), shampoo (0.9)"),
    "muon_orientation": Flag(
        "muon-orientation", "text", "stored|product",
        "rows and columns of this factor: those of the tensor as it is stored, or the outputs and"
        " inputs of the products that read it: muon (stored)"),
    "muon_scale": Flag(
        "muon-scale", "text", "original|match_rms_adamw",
        "factor of a step: root of max(1, rows / columns), or 0.2 times the root of max(rows, "
        "columns): muon (original)"),
    "nesterov": Flag(
        "nesterov", "switch", "",
        "Nesterov's momentum: sgd"),
    "no_decay": Flag(
        "no-decay", "text", "pattern,...",
        "no weight decay for parameters that match these globs"),
    "no_nesterov": Flag(
        "no-nesterov", "switch", "",
        "momentum without Nesterov's form: muon"),
    "nonfinite": Flag(
        "nonfinite", "word", "stop|skip",
        "a step of which a gradient is NaN or infinite: stop, with the name of the parameter, or "
        "skip, which changes no state; fp16 always skips (stop)"),
    "ns_coefficients": Flag(
        "ns-coefficients", "number", "number,number,number",
        "a, b and c of their polynomial: muon (3.4445,-4.775,2.0315)"),
    "ns_precision": Flag(
        "ns-precision", "text", "f32|bf16",
        "type of the matrices that are multiplied; products sum in f32: muon (f32)"),
    "ns_steps": Flag(
        "ns-steps", "number", "number",
        "iterations that orthogonalise: muon (5)"),
    "nvme_budget": Flag(
        "nvme-budget", "bytes", "bytes",
        "maximum bytes of the disk per rank for offloaded values (0: no limit)"),
    "offload_activations": Flag(
        "offload-activations", "word", "device|host|nvme|auto",
        "tier of activations that are saved for backward: device, host or nvme; auto: decided for"
        " each value, together with recomputation, within a budget (device)"),
    "offload_gain": Flag(
        "offload-gain", "number", "number",
        "with a budget: percent of a step that a plan must save if it writes to the disk and "
        "another one fits (10)"),
    "offload_gradients": Flag(
        "offload-gradients", "word", "device|host|nvme|auto",
        "tier of summed gradients until the update; auto: chosen within a budget (device)"),
    "offload_optimizer": Flag(
        "offload-optimizer", "word", "device|host|nvme|auto",
        "tier of optimizer state; on host and nvme the host's cores run the update; auto: chosen "
        "within a budget (device)"),
    "offload_params": Flag(
        "offload-params", "word", "device|host|nvme|auto",
        "tier of parameters between their uses: device, host or nvme, sharded over ranks (stage "
        "3); auto: chosen within a budget (device)"),
    "optimizer": Flag(
        "optimizer", "text", "name",
        "adafactor, adagrad, adam, adamw, lamb, lion, muon, rmsprop, sgd or shampoo (adamw)"),
    "other_lr": Flag(
        "other-lr", "number", "number",
        "learning rate of --other-optimizer; another --lr of a run scales both (that of --lr)"),
    "other_optimizer": Flag(
        "other-optimizer", "text", "name[:FLAG=X...]",
        "optimizer of the parameters that one of matrices does not update, and its settings, "
        "joined by ':' (adamw)"),
    "other_params": Flag(
        "other-params", "text", "pattern,...",
        "--other-optimizer updates parameters that match these globs"),
    "other_weight_decay": Flag(
        "other-weight-decay", "number", "number",
        "weight decay of --other-optimizer (that of --other-optimizer, or 0)"),
    "param_group": Flag(
        "param-group", "text", "pattern:key=X,...",
        "settings of parameters that match a glob: weight-decay=X, lr-scale=Y, or those of a "
        "schedule of their own, lr-schedule=... and others, joined by ':'; the first matching "
        "group applies"),
    "partition_activations": Flag(
        "partition-activations", "switch", "",
        "divide saved activations over the ranks along tensor, which hold them alike (Pa of "
        "ZeRO-R); an error for data-parallel ranks, whose activations differ"),
    "persist_under": Flag(
        "persist-under", "bytes", "bytes",
        "stage 3: do not shard parameters smaller than this (0)"),
    "precision": Flag(
        "precision", "word", "fp32|bf16|fp16",
        "store parameters, gradients and activations in 16 bits (fp32)"),
    "prefetch_bytes": Flag(
        "prefetch-bytes", "bytes", "bytes",
        "bytes that may be added to the peak of live bytes so that gathers start early and "
        "gradients are reduced beside kernels (0; for GPUs --bucket-bytes)"),
    "profile": Flag(
        "profile", "text", "report.json",
        "a report of zero-run --profile --report-json: plan with its times of kernels instead of "
        "those that --machine gives"),
    "qk_clip": Flag(
        "qk-clip", "number", "number",
        "largest score of attention: scale queries and keys of heads with larger ones; 0 for no "
        "limit: muon (0)"),
    "ram_budget": Flag(
        "ram-budget", "bytes", "bytes",
        "CPU ranks: maximum bytes of memory that a process with all ranks of a machine takes, "
        "with the runtime and its libraries, instead of --memory-budget and --host-budget: what "
        "is offloaded to the host stays in this memory"),
    "ranks": Flag(
        "ranks", "integer", "N",
        "data-parallel ranks (1)"),
    "ranks_per_node": Flag(
        "ranks-per-node", "integer", "N",
        "sums add the ranks of each node first, then nodes, so that only sums cross between nodes"
        " of N ranks (0: all ranks in order)"),
    "recompute": Flag(
        "recompute", "word", "cheap|none",
        "values that backward recomputes instead of saving them in forward: cheap (elementwise "
        "ops and row normalizations) or none (cheap)"),
    "reduce_dtype": Flag(
        "reduce-dtype", "word", "fp32|bf16|fp16",
        "element type in which 16-bit gradients are summed over ranks (fp32)"),
    "reshard_recomputed": Flag(
        "reshard-recomputed", "switch", "",
        "stage 3 with --checkpoint: gather the parameters of a recomputed layer again for its "
        "backward instead of keeping them: less memory, more gathers"),
    "root_steps": Flag(
        "root-steps", "number", "number",
        "iterations that compute an inverse fourth root: shampoo (20)"),
    "rslora": Flag(
        "rslora", "switch", "",
        "divide --lora-alpha by the square root of the rank instead (rsLoRA)"),
    "seed": Flag(
        "seed", "integer", "N",
        "seed of the random numbers of Dropout (0)"),
    "sequence_parallel": Flag(
        "sequence-parallel", "switch", "",
        "cut the tokens of normalizations, dropout and residuals over tensor, too"),
    "shard_params": Flag(
        "shard-params", "word", "all|node",
        "stage 3: shard parameters over all ranks, or over those of each node, which "
        "--ranks-per-node counts, so that no gather crosses between nodes (all)"),
    "skip_above": Flag(
        "skip-above", "number", "number",
        "a step whose gradients have a larger global norm, or one that is not finite, changes no "
        "state (0: no limit)"),
    "skip_spikes": Flag(
        "skip-spikes", "number", "number",
        "a step whose loss is more than this multiple of a running mean of losses, or whose "
        "gradients are not finite, changes no state (0: no limit)"),
    "state_precision": Flag(
        "state-precision", "text", "precision|STATE=precision,...",
        "how states of the optimizer are stored: f32, bf16, 8bit or 4bit, for all or by name "
        "(exp_avg=8bit,exp_avg_sq=f32)"),
    "sync_batchnorm": Flag(
        "sync-batchnorm", "switch", "",
        "BatchNormalization: compute statistics over the batches of all ranks"),
    "target_cpu": Flag(
        "target-cpu", "text", "cpu",
        "processor of the kernels: native, a level such as x86-64-v3, aarch64[:feature,...], or a"
        " processor such as znver4 or cortex-a76 (native)"),
    "tensor_plan": Flag(
        "tensor-plan", "text", "auto|file",
        "what is sharded along tensor: auto, which follows the shardings of a JAX program, or a "
        "file with lines 'pattern: style' (auto)"),
    "threads_per_rank": Flag(
        "threads-per-rank", "integer", "N",
        "threads of a rank that the workspace is planned for; matrix products with another number"
        " of threads differ in the last bits (1)"),
    "tile_params_over": Flag(
        "tile-params-over", "bytes", "bytes",
        "split parameters above this size, and the ops that read them, into tiles that are "
        "gathered one at a time; sums in backward round differently (0: none)"),
    "total_steps": Flag(
        "total-steps", "integer", "N",
        "step after which a learning rate that falls is constant"),
    "trainable": Flag(
        "trainable", "text", "file",
        "train only the parameters that this file lists (names or globs), and freeze the others"),
    "verbose": Flag(
        "verbose", "switch", "",
        "list all trained parameters, and all items of an error (-v)"),
    "warmup_form": Flag(
        "warmup-form", "word", "linear|log|cosine",
        "how the learning rate rises: linear, log (DeepSpeed's default) or cosine (linear)"),
    "warmup_ratio": Flag(
        "warmup-ratio", "number", "number",
        "learning rate of the first step of a warm-up as a fraction of --lr (0)"),
    "warmup_steps": Flag(
        "warmup-steps", "integer", "N",
        "steps in which the learning rate rises (0)"),
    "weight_decay": Flag(
        "weight-decay", "number", "number",
        "weight decay (0)"),
    "zero": Flag(
        "zero", "word", "auto",
        "with a budget: auto chooses stage, parameters that are not sharded, buckets and "
        "recomputation together"),
    "zero_stage": Flag(
        "zero-stage", "integer", "N",
        "ZeRO stage: 0, 1, 2 or 3 (0)"),
}


class Flags(TypedDict, total=False):
    """The keywords of zero.compile(), for checkers of types."""
    emit_onnx: _Path
    external_data: bool
    offload: _Path
    plan_only: bool
    report: Any
    witness: _Path
    lr: float
    config: _Path
    explain_config: bool
    run_steps: int
    dump_after: _Path
    clean_after_phases: bool
    gpu_arch: Any
    nvme_dir: Any
    threads: int
    cache_dir: _Path
    no_cache: bool
    shape: Any
    documents: bool
    roles: Any
    loss: Any
    carry: Any
    zeros: Any
    tie: Any
    training_info: Union[int, str]
    keep_initializers: bool
    ort_optimizer: _Path
    ort_checkpoint: _Path
    allow_symlinks: bool
    activation_budget: Union[int, str]
    allow_precision: Any
    alpha: float
    attention: Literal["fused", "products"]
    beta2: float
    beta2_decay: float
    betas: Union[Sequence[float], str]
    bucket_bytes: Union[int, str]
    centered: bool
    checkpoint: Literal["none", "layer", "sqrt", "auto"]
    checkpoint_slots: int
    clip_by_previous: bool
    clip_norm: float
    clip_threshold: float
    dampening: float
    data_root: _Path
    decay_form: Literal["linear", "cosine", "sqrt"]
    decay_steps: int
    delay_updates: bool
    device: Literal["cpu", "cuda"]
    disk_count: int
    disk_mixed: Union[int, str]
    disk_read: Union[int, str]
    disk_write: Union[int, str]
    dora: bool
    drive_writes: _Path
    ema: _Path
    ema_every: int
    ema_start: int
    eps: float
    eps_pair: Union[Sequence[float], str]
    forward_only: bool
    freeze: Any
    freeze_all_but: Any
    frozen_precision: Literal["bf16", "fp16", "nf4", "int8", "fp8"]
    grad_precision: Literal["f32", "bf16"]
    grad_reduce: Literal["last", "each"]
    graft: _Path
    host_budget: Union[int, str]
    init: _Path
    initial_accumulator_value: float
    initial_loss_scale: float
    largest_side: float
    lengths: _Path
    logits_bytes: Union[int, str]
    lora: Any
    lora_alpha: float
    lora_dropout: float
    lora_init: Literal["kaiming-uniform", "gaussian"]
    lora_rank: int
    loss_mean: Literal["global", "local"]
    loss_scale: float
    loss_scale_hysteresis: int
    loss_scale_window: int
    lr_cycles: int
    lr_decay: float
    lr_points: Any
    lr_power: float
    lr_schedule: Literal[
        "constant", "linear", "cosine", "cosine-restarts", "polynomial", "wsd", "inverse-sqrt",
        "points"]
    machine: _Path
    master_weights: Literal["f32", "none", "nearest"]
    matrix_params: Any
    memory_budget: Union[int, str]
    mesh: Any
    micro_batch_order: Literal["horizontal", "vertical", "auto"]
    micro_batches: int
    min_loss_scale: float
    min_lr_ratio: float
    momentum: float
    muon_orientation: _Path
    muon_scale: _Path
    nesterov: bool
    no_decay: Any
    no_nesterov: bool
    nonfinite: Literal["stop", "skip"]
    ns_coefficients: Union[Sequence[float], str]
    ns_precision: _Path
    ns_steps: float
    nvme_budget: Union[int, str]
    offload_activations: Literal["device", "host", "nvme", "auto"]
    offload_gain: float
    offload_gradients: Literal["device", "host", "nvme", "auto"]
    offload_optimizer: Literal["device", "host", "nvme", "auto"]
    offload_params: Literal["device", "host", "nvme", "auto"]
    optimizer: _Path
    other_lr: float
    other_optimizer: _Path
    other_params: Any
    other_weight_decay: float
    param_group: Any
    partition_activations: bool
    persist_under: Union[int, str]
    precision: Literal["fp32", "bf16", "fp16"]
    prefetch_bytes: Union[int, str]
    profile: _Path
    qk_clip: float
    ram_budget: Union[int, str]
    ranks: int
    ranks_per_node: int
    recompute: Literal["cheap", "none"]
    reduce_dtype: Literal["fp32", "bf16", "fp16"]
    reshard_recomputed: bool
    root_steps: float
    rslora: bool
    seed: int
    sequence_parallel: bool
    shard_params: Literal["all", "node"]
    skip_above: float
    skip_spikes: float
    state_precision: Any
    sync_batchnorm: bool
    target_cpu: _Path
    tensor_plan: _Path
    threads_per_rank: int
    tile_params_over: Union[int, str]
    total_steps: int
    trainable: _Path
    verbose: bool
    warmup_form: Literal["linear", "log", "cosine"]
    warmup_ratio: float
    warmup_steps: int
    weight_decay: float
    zero: str
    zero_stage: int
    stage: int
    params: Any
    buffers: Any
    keywords: Any
    locations: Any

//===- flags_results.cpp - flags of what a run writes ---------------------===//

#include "flags.h"

using namespace zero::rt;

namespace zero::run {

/// Adds a file to `files`.
static Setter toFiles(std::vector<std::string> &files) {
  return [&files](const std::string &text) { return toText(files.emplace_back())(text); };
}

static Setter toSavedType(WeightsForm &form) {
  return [&form](const std::string &text) {
    const std::pair<const char *, DType> words[] = {
        {"fp32", ZERO_RT_F32}, {"bf16", ZERO_RT_BF16}, {"fp16", ZERO_RT_F16}};
    for (const auto &[word, type] : words)
      if (text == word)
        form.dtype = type;
    form.inBlocks = text == "q8_0";
    return Status();
  };
}

static Setter toSaveAsync(SaveAsync &choice) {
  return [&choice](const std::string &text) {
    for (SaveAsync each : {SaveAsync::Auto, SaveAsync::On, SaveAsync::Off})
      if (text == nameOf(each))
        choice = each;
    return Status();
  };
}

Flags resultFlags(Options &options) {
  return {
      Flag{"Results", "save", "FILE",
           "write the trained weights as .safetensors, or, if FILE ends in .onnx,\n"
           "the model with new initializers. With --ort-checkpoint, a FILE without\n"
           "suffix is a checkpoint of onnxruntime-training. FILE.gguf is the model of a\n"
           "folder with config.json, for llama.cpp. A FILE that ends with / is\n"
           "a folder: of a model from a folder with config.json one that from_pretrained()\n"
           "loads; with --lora one for the adapters, which PEFT loads. May be given twice",
           toFiles(options.saves), /*with=*/"", /*repeats=*/true}
          .inShort("Results", "write the trained weights: .safetensors, .onnx, ..."),
      Flag{"Results", "save-precision", "fp32|bf16|fp16|q8_0",
           "the type of the floats that --save writes; without it, .gguf files and folders\n"
           "have that of the model's folder, and others that of the program. q8_0: a\n"
           ".gguf file with blocks of 8-bit codes",
           toSavedType(options.form), "save"}
          .oneOfWords(),
      {"Results", "save-ema", "FILE",
       "as --save, with the averages of --ema in place of the weights",
       toFiles(options.averageSaves), /*with=*/"", /*repeats=*/true},
      {"Results", "merge-lora", "",
       "with --lora: --save writes the model with the adapters added to its weights",
       toSwitch(options.form.mergesAdapters), "save"},
      Flag{"Results", "shard-bytes", "BYTES",
           "the largest file of a folder of --save, unless one tensor is larger",
           toByteSize(options.form.shardBytes), "save"}
          .orElse("5GB"),
      Flag{"Results", "save-state", "DIR",
           "write a checkpoint for --resume at the end and when interrupted;\n"
           "DIR keeps the last two",
           toText(options.saveState)}
          .inShort("Results", "write checkpoints; --save-every=K steps"),
      {"Results", "save-every", "K", "write a checkpoint also after every K steps",
       toCount(options.saveEvery), "save-state"},
      Flag{"Results", "save-async", "auto|on|off",
           "on: copy the state to host memory after every K steps, and write it\n"
           "beside the next ones. auto: if this machine has memory for the copy",
           toSaveAsync(options.saveAsync), "save-every"}
          .oneOfWords()
          .orElse("auto"),
      {"Results", "keep-best", "",
       "with --eval-data: keep the checkpoint with the least evaluation loss so far\n"
       "in DIR/best",
       toSwitch(options.keepsBest), "save-state"},
      {"Results", "local-state", "",
       "DIR of --save-state is a directory of each node's own, with the parts\n"
       "of its ranks; --resume finds them there without a flag",
       toSwitch(options.session.local_state), "save-state"},
      Flag{"Results", "log", "FILE",
           "write one line {\"step\":N,\"loss\":X} per step, with gradient_norm,\n"
           "learning_rate, loss_scale and skipped where they apply; exists from\n"
           "the first step on. A resumed run keeps the earlier lines",
           toText(options.log)}
          .inShort("Results", "write the loss of each step as JSON lines"),
      {"Results", "log-times", "",
       "lines of --log say the time, the seconds of the step and the rate, too;\n"
       "without it, equal runs write equal logs",
       toSwitch(options.logsTimes), "log"},
      {"Results", "log-dir", "DIR",
       "write an event file for TensorBoard to DIR: loss, rates, norm, evaluations",
       toText(options.logFolder)},
      Flag{"Results", "page", "FILE.html",
           "write a page with the curves of the run so far, its memory, the time to its\n"
           "end and its last warnings; it is written again every 5 seconds, and a browser\n"
           "that shows it loads it again",
           toText(options.page)}
          .inShort("Results", "write a page with the curves of the run"),
      Flag{"Results", "progress", "text|json",
           "json: print a line of JSON on standard output when the run begins, after\n"
           "each step, after each evaluation and at the end, and nothing else there",
           [&options](const std::string &text) {
             options.printsJson = text == "json";
             options.quiet |= options.printsJson;
             return Status();
           }}
          .oneOfWords()
          .orElse("text"),
      {"Results", "dump-gradients", "FILE",
       "write the gradients of step 0 as .safetensors, named like the\nparameters",
       toText(options.gradients)},
      {"Results", "save-outputs", "FILE",
       "write the outputs of the last step as .safetensors, the rows of the\nranks concatenated",
       toText(options.outputs)},
      Flag{"Results", "report-json", "FILE",
           "write memory by role, elements received, losses and seconds", toText(options.report)}
          .inShort("Results", "write memory, losses and times"),
      Flag{"Results", "profile", "",
           "print the time of a step by kernel, and how close each is to the\n"
           "limits of this machine",
           toSwitch(options.profile)}
          .inShort("Results", "print where the time of a step goes"),
      {"Results", "trace", "FILE",
       "write a timeline of the commands of a step on each rank, and of the\n"
       "plan, as JSON for ui.perfetto.dev",
       toText(options.trace)},
      Flag{"Results", "quiet", "", "print only warnings and errors", toSwitch(options.quiet)}
          .inShort("Results", "print only warnings and errors"),
      {"Results", "verbose", "", "list all items of an error (-v)",
       toSwitch(options.session.verbose)},
      {"Results", "v", "", "", toSwitch(options.session.verbose)},
  };
}

} // namespace zero::run

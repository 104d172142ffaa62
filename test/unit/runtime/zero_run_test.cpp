//===- zero_run_test.cpp - the tool as a user calls it --------------------===//

#include "mesh_program.h"
#include "mixed_program.h"
#include "tier_program.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

class ZeroRun : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "zero-run-test-" + std::to_string(::getpid()) + "/";
    ::mkdir(folder.c_str(), 0700);
    TinyProgram tiny(2);
    tiny.program.set_optimizer("sgd");
    auto *certificate = tiny.program.add_certificates();
    certificate->set_peak(tiny.at.end);
    certificate->set_peak_at("backward");
    auto *role = certificate->add_roles();
    role->set_role(zero::rt::proto::PARAMETER);
    role->set_most(24);
    std::rename(tiny.write("tool.zexe").c_str(), (folder + "tiny.zexe").c_str());
    writeNpy("x.npy", "<f4", "(4, 4)", std::string(64, '\0'));
    writeNpy("label.npy", "<i4", "(4,)", std::string(16, '\0'));
  }
  void TearDown() override { std::system(("rm -r " + folder).c_str()); }

  void writeNpy(const char *name, const std::string &descr, const std::string &shape,
                const std::string &elements) {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(118, ' ');
    std::ofstream(folder + name, std::ios::binary)
        << std::string("\x93NUMPY\x01\0\x76\0", 10) << header << elements;
  }

  /// Runs zero-run in the folder. `output` contains stdout and stderr.
  int run(const std::string &arguments) {
    std::string command = "cd " + folder + " && " ZERO_RUN " " + arguments + " 2>&1";
    FILE *pipe = ::popen(command.c_str(), "r");
    output.clear();
    std::array<char, 4096> buffer;
    while (size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
      output.append(buffer.data(), got);
    return WEXITSTATUS(::pclose(pipe));
  }
  void expectError(const std::string &arguments, const std::string &part) {
    EXPECT_EQ(run(arguments), 1);
    size_t error = output.find("zero-run: error: ");
    ASSERT_NE(error, std::string::npos) << output;
    EXPECT_NE(output.find(part, error), std::string::npos) << output;
    EXPECT_EQ(output.find('\n', error), output.size() - 1) << output;
  }
  std::string contents(const char *name) {
    std::ifstream file(folder + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const char *name) { return ::access((folder + name).c_str(), F_OK) == 0; }
  size_t filesInFolder() {
    FILE *pipe = ::popen(("ls -A " + folder + " | wc -l").c_str(), "r");
    size_t count = 0;
    EXPECT_EQ(std::fscanf(pipe, "%zu", &count), 1);
    ::pclose(pipe);
    return count;
  }

  const std::string data = " --data x=x.npy,label=label.npy ";
  std::string folder, output;
};

TEST_F(ZeroRun, RunsOnTheDeviceThatWasCompiledFor) {
  expectError("tiny.zexe --device=cuda" + data,
              "the executable is compiled for cpu, not for cuda: compile the model with "
              "--device=cuda");
  expectError("tiny.zexe --gpus=0" + data, "GPUs for an executable that is compiled for cpu");
  expectError("tiny.zexe --device=tpu" + data,
              "option '--device': expected cpu or cuda, got 'tpu'");
  EXPECT_EQ(run("tiny.zexe --device=cpu" + data), 0) << output;
  TinyProgram tiny(2);
  tiny.program.set_target(zero::rt::proto::CUDA);
  for (zero::rt::proto::Kernel &kernel : *tiny.program.mutable_kernels())
    if (kernel.has_symbol()) {
      auto *entry = kernel.mutable_gpu()->add_entries();
      entry->set_threads(32);
      entry->set_blocks(1);
    }
  std::rename(tiny.write("gpu.zexe").c_str(), (folder + "gpu.zexe").c_str());
  ::setenv("ZERO_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  expectError("gpu.zexe" + data,
              "the CUDA driver was not found: looked for '/nonexistent/libcuda.so.1'");
  expectError("gpu.zexe --device=cuda --profile --steps=3" + data,
              "--profile compares with the peak of CPU cores");
  ::unsetenv("ZERO_CUDA_DRIVER");
}

TEST_F(ZeroRun, TrainsAndWritesEverything) {
  ASSERT_EQ(run("tiny.zexe" + data +
                "--steps=3 --lr 0.5 --log log.jsonl --save=w.safetensors "
                "--dump-gradients g.safetensors --report-json report.json"),
            0)
      << output;
  EXPECT_NE(output.find("ZeRO stage 0 on 2 ranks, sgd"), std::string::npos) << output;
  EXPECT_NE(output.find("parameters"), std::string::npos) << output;
  EXPECT_NE(output.find("trained 3 steps"), std::string::npos) << output;
  EXPECT_EQ(contents("log.jsonl"),
            "{\"step\":0,\"loss\":0}\n{\"step\":1,\"loss\":0}\n{\"step\":2,\"loss\":0}\n");
  // x is zero, so the gradient is zero and w does not change.
  EXPECT_TRUE(contents("w.safetensors").ends_with(tinyWeights()));
  EXPECT_TRUE(contents("g.safetensors").ends_with(std::string(48, '\0')));
  EXPECT_NE(contents("report.json").find("\"losses\": [0, 0, 0]"), std::string::npos);
  EXPECT_EQ(filesInFolder(), 7u);
}

TEST_F(ZeroRun, TellsOfTheDisk) {
  TierProgram program(2, 1, true);
  program.program.set_optimizer("sgd");
  std::rename(program.write("tier.zexe").c_str(), (folder + "tier.zexe").c_str());
  const size_t before = filesInFolder();
  expectError("tier.zexe" + data, "expected a directory for them (--nvme-dir)");
  expectError("tier.zexe" + data + "--nvme-dir=. --nvme-io=rings", "got 'rings'");
  for (const char *queue : {"4 threads", "io_uring"}) {
    const std::string flag = queue[0] == '4' ? "--nvme-io=threads" : "--nvme-io=auto";
    ASSERT_EQ(run("tier.zexe" + data + "--nvme-dir=. --steps=4 --trace=t.json " + flag), 0)
        << output;
    if (queue[0] == '4')
      EXPECT_NE(output.find("nvme: one file per rank in '.', accessed with 4 threads"),
                std::string::npos)
          << output;
    EXPECT_NE(output.find("nvme per rank and step: 1.1 MiB read, 1.1 MiB written (planned: 1.1 "
                          "MiB and 1.1 MiB)"),
              std::string::npos)
        << output;
    // Twice W's shard of 24 bytes in the micro-batch, and `big`. There is no planned value.
    EXPECT_NE(output.find("lane nvme read    busy "), std::string::npos) << output;
    EXPECT_NE(output.find(" ms a step, 1.1 MiB at "), std::string::npos) << output;
    EXPECT_NE(output.find(" a step, waiting for lanes\n"), std::string::npos) << output;
    EXPECT_EQ(output.find("(planned: 0"), std::string::npos) << output;
  }
  EXPECT_EQ(filesInFolder(), before + 1);
  const std::string trace = contents("t.json");
  for (const char *track : {"h2d", "d2h", "nvme read", "nvme write", "host compute"})
    EXPECT_NE(trace.find("\"args\":{\"name\":\"" + std::string(track) + "\"}"), std::string::npos)
        << track;
  EXPECT_NE(trace.find("\"name\":\"read big\""), std::string::npos);
  EXPECT_NE(trace.find("\"kernel\":\"nvme read\",\"micro_batch\":0,\"bytes\":1200028,"),
            std::string::npos);
  EXPECT_EQ(trace.find("planned"), std::string::npos);
}

TEST_F(ZeroRun, TracesThePlanAboveWhatCameOfIt) {
  TierProgram program(2, 1, true);
  program.program.set_machine("a machine");
  for (zero::rt::proto::Segment &segment : *program.program.mutable_segments())
    for (zero::rt::proto::Command &command : *segment.mutable_commands())
      command.set_seconds(0.125);
  std::rename(program.write("tier.zexe").c_str(), (folder + "tier.zexe").c_str());
  ASSERT_EQ(run("tier.zexe" + data + "--nvme-dir=. --steps=3 --trace=t.json --report-json=r.json"),
            0)
      << output;
  EXPECT_NE(output.find("(planned: 250.00 ms), 1.1 MiB at "), std::string::npos) << output;
  EXPECT_NE(output.find(" ms, on 'a machine')\n"), std::string::npos) << output;
  const std::string trace = contents("t.json"), report = contents("r.json");
  for (const char *track : {"step", "compute", "collective", "h2d", "nvme write", "host compute"})
    for (const char *prefix : {"", "planned: "})
      EXPECT_NE(trace.find("\"args\":{\"name\":\"" + std::string(prefix) + track + "\"}"),
                std::string::npos)
          << prefix << track;
  EXPECT_NE(trace.find("\"dur\":125000.000,"), std::string::npos);
  EXPECT_NE(report.find("\"plan\": {\"machine\": \"a machine\", "), std::string::npos) << report;
  EXPECT_NE(report.find("\"nvme read\": {\"seconds\": 0.25, \"bytes\": 1200052}"),
            std::string::npos)
      << report;
}

TEST_F(ZeroRun, TellsOfWear) {
  TierProgram program(2, 1, true);
  const uint64_t arenas[] = {3 << 20, 4 << 20, program.disk.end};
  for (int tier = 0; tier < zero::rt::proto::Tier_ARRAYSIZE; ++tier) {
    auto *certificate = program.program.add_certificates();
    certificate->set_tier(zero::rt::proto::Tier(tier));
    certificate->set_peak(arenas[tier]);
  }
  std::rename(program.write("tier.zexe").c_str(), (folder + "tier.zexe").c_str());
  ASSERT_EQ(run("tier.zexe" + data + "--nvme-dir=. --steps=4 --report-json=r.json"), 0) << output;
  for (const char *tier : {"device memory", "host memory", "disk"})
    EXPECT_NE(output.find("\n" + std::string(tier) + " per rank: "), std::string::npos) << output;
  EXPECT_NE(output.find(", 7.0 MiB and 1.1 MiB on disk per rank"), std::string::npos) << output;
  EXPECT_NE(output.find("nvme in this run, all ranks: 9.2 MiB read, 11.6 MiB written; 2.3 MiB a "
                        "step is "),
            std::string::npos)
      << output;
  EXPECT_EQ(output.find("endurance"), std::string::npos) << output;

  // In full blocks: the header and initial values once, then four steps.
  const uint64_t step = kBig * 4 + program.slice * 4, blocks = program.disk.end;
  const std::string use = "\"nvme\": {\"read\": " + std::to_string(2 * (2 * 4096 + 4 * blocks)) +
                          ", \"written\": " + std::to_string(2 * (9 * 4096 + 5 * blocks)) +
                          ", \"written_per_step\": " + std::to_string(2 * step) +
                          ", \"written_per_day\": ";
  EXPECT_NE(contents("r.json").find(use), std::string::npos) << contents("r.json");
  EXPECT_NE(contents("r.json").find("\"memory_bytes_per_rank\": 7340032,\n"
                                    "  \"nvme_bytes_per_rank\": "),
            std::string::npos);
  EXPECT_EQ(contents("r.json").find("endurance"), std::string::npos);
  ASSERT_EQ(
      run("tier.zexe" + data + "--nvme-dir=. --steps=4 --report-json=r.json --nvme-endurance=1GB"),
      0)
      << output;
  EXPECT_NE(output.find("11.6 MiB written, 1.2 % of an endurance of 0.001 TB; 2.3 MiB a step is "),
            std::string::npos)
      << output;
  EXPECT_NE(output.find(" TB a day, which uses up the endurance of 0.001 TB in "),
            std::string::npos)
      << output;
  EXPECT_NE(contents("r.json").find(", \"endurance\": 1000000000, \"endurance_share\": 0.012"),
            std::string::npos)
      << contents("r.json");
}

TEST_F(ZeroRun, RefusesAnEnduranceWithoutEffect) {
  expectError("tiny.zexe --nvme-endurance=much" + data, "option '--nvme-endurance': expected a "
                                                        "number of bytes");
  expectError("tiny.zexe --nvme-endurance=0TB" + data, "got '0TB'");
  expectError("tiny.zexe --nvme-endurance=600TB" + data,
              "--nvme-endurance has no effect: the program stores nothing on disk");
  expectError("tiny.zexe --nvme-endurance=600TB --quiet" + data,
              "--nvme-endurance has no effect with --quiet and without --report-json");
}

TEST_F(ZeroRun, TellsNormRateAndScale) {
  std::rename(MixedProgram(2, 1).write("mixed.zexe").c_str(), (folder + "mixed.zexe").c_str());
  writeNpy("label.npy", "<i8", "(4,)", std::string(32, '\0'));
  ASSERT_EQ(run("mixed.zexe" + data + "--steps=2 --lr 0.25 --log log.jsonl --report-json r.json"),
            0)
      << output;
  EXPECT_NE(output.find("step 1: loss"), std::string::npos) << output;
  EXPECT_NE(output.find(", norm 0, lr 2.5e-01, scale 1024, "), std::string::npos) << output;
  EXPECT_EQ(output.find("skipped"), std::string::npos) << output;
  EXPECT_NE(contents("log.jsonl")
                .find(",\"gradient_norm\":0,\"learning_rate\":0.25,"
                      "\"loss_scale\":1024,\"skipped\":false}\n"),
            std::string::npos)
      << contents("log.jsonl");
  EXPECT_NE(
      contents("r.json").find("\"loss_scale\": [1024, 1024],\n  \"skipped\": [false, false],"),
      std::string::npos)
      << contents("r.json");
}

TEST_F(ZeroRun, SaysWhatIsSkipped) {
  std::rename(MixedProgram(2, 1, 0x1p126).write("mixed.zexe").c_str(),
              (folder + "mixed.zexe").c_str());
  std::string x;
  for (int i = 0; i < 16; ++i)
    x += std::string("\0\0\x80\x44", 4); // 1024
  writeNpy("x.npy", "<f4", "(4, 4)", x);
  writeNpy("label.npy", "<i8", "(4,)", std::string(32, '\0'));
  ASSERT_EQ(run("mixed.zexe" + data + "--steps=2 --log log.jsonl"), 0) << output;
  EXPECT_NE(output.find("scale 8.50706e+37, skipped: the gradients overflow, "), std::string::npos)
      << output;
  EXPECT_NE(output.find("trained 2 steps, 2 of them skipped in"), std::string::npos) << output;
  EXPECT_NE(output.find("zero-run: warning: no step was applied: the gradients overflowed in each "
                        "of 2, the last time with a loss scale of 4.25353e+37"),
            std::string::npos)
      << output;
  EXPECT_NE(contents("log.jsonl").find("\"gradient_norm\":null,"), std::string::npos);
  EXPECT_NE(contents("log.jsonl").find("\"skipped\":true}"), std::string::npos);
  ASSERT_EQ(run("mixed.zexe" + data + "--steps=20"), 0) << output;
  EXPECT_EQ(output.find("warning"), std::string::npos) << output;
}

// Along each axis of a mesh.
TEST_F(ZeroRun, TellsWhatIsReceivedAlongAxes) {
  MeshProgram made({2, 2}, 3);
  made.program.add_files(meshWeightsFile());
  std::rename(made.write("mesh.zexe").c_str(), (folder + "mesh.zexe").c_str());
  ASSERT_EQ(run("mesh.zexe --data x=x.npy --steps=3 --report-json=r.json "
                "--save-outputs=o.safetensors"),
            0)
      << output;
  EXPECT_NE(output.find("mesh: data0=2,tensor=2\n"
                        "  data0                    24 elements received per rank and step\n"
                        "  tensor                    1 elements received per rank and step\n"),
            std::string::npos)
      << output;
  const std::string report = contents("r.json");
  for (const char *part : {"\"mesh\": {\"data0\": 2, \"tensor\": 2}",
                           "\"planned_elements_along\": {\"data0\": 24, \"tensor\": 1}",
                           "\"received_elements_along\": {\"data0\": 72, \"tensor\": 3}"})
    EXPECT_NE(report.find(part), std::string::npos) << report;
  // Of the outputs of each rank, those of both data ranks: [2] numbers.
  EXPECT_NE(contents("o.safetensors").find("\"part\":{\"dtype\":\"I64\",\"shape\":[2]"),
            std::string::npos)
      << contents("o.safetensors");
  ::unlink(made.program.files(0).c_str());
}

TEST_F(ZeroRun, HelpAndVersion) {
  EXPECT_EQ(run("--help"), 0);
  EXPECT_NE(output.find("usage: zero-run"), std::string::npos);
  EXPECT_EQ(run("--version"), 0);
  EXPECT_EQ(output.find("zero-run "), 0u);
}

TEST_F(ZeroRun, QuietIsQuiet) {
  EXPECT_EQ(run("tiny.zexe --quiet" + data), 0);
  EXPECT_EQ(output, "");
}

TEST_F(ZeroRun, WarnsOnWrap) {
  writeNpy("x.npy", "<f4", "(2, 4)", std::string(32, '\0'));
  EXPECT_EQ(run("tiny.zexe --quiet" + data), 0);
  EXPECT_EQ(output, "zero-run: warning: input 'x' has 2 rows, 'label' more: every step and rank "
                    "reads the same rows\n");
  writeNpy("label.npy", "<i4", "(2,)", std::string(8, '\0'));
  EXPECT_EQ(run("tiny.zexe --quiet" + data), 0);
  EXPECT_EQ(output, "zero-run: warning: input 'x' has 2 samples, a global batch 4: samples are "
                    "repeated within a batch\n");
}

TEST_F(ZeroRun, WrongCommandLines) {
  expectError("", "no model");
  expectError("tiny.zexe --zero-stage=3", "unknown option '--zero-stage=3'");
  expectError("tiny.zexe --steps=-1", "option '--steps': expected a whole number, got '-1'");
  expectError("tiny.zexe --lr=fast", "expected a number, got 'fast'");
  expectError("tiny.zexe --steps", "needs a value");
  expectError("tiny.zexe --quiet=1", "takes no value");
  expectError("tiny.zexe other.zexe", "expected one model");
  expectError("tiny.zexe --data x.npy",
              "expected NAME=FILE, FILE.npz or a folder of tokens, got 'x.npy'");
  expectError("tiny.zexe --timeout=0" + data, "expected a timeout above 0 s");
  expectError("model.onnx -o x.zexe", "belongs to zeroc");
}

TEST_F(ZeroRun, WrongFiles) {
  size_t before = filesInFolder();
  expectError("missing.zexe", "cannot open 'missing.zexe'");
  EXPECT_EQ(run("x.npy"), 1); // not an executable, but zeroc may accept it
  EXPECT_NE(output.find("x.npy:0:0: error: expected a model in a supported format: "),
            std::string::npos)
      << output;
  expectError("tiny.zexe --data x=x.npy --save=w", "no data for input 'label'");
  expectError("tiny.zexe --data y=x.npy --save=w",
              "no input 'y'; its inputs are 'x' (float32 [*, 4]), 'label' (int64 [*])");
  expectError("tiny.zexe --save=/nonexistent/w" + data, "cannot write '/nonexistent/w'");
  expectError("tiny.zexe --save=x.npy" + data, "it is an input of this run");
  writeNpy("label.npy", "<f4", "(4,)", std::string(16, '\0'));
  expectError("tiny.zexe --save=w" + data, "input 'label': expected int64 [*], got float32 [4]");
  EXPECT_EQ(filesInFolder(), before);
}

TEST_F(ZeroRun, NanWritesNothing) {
  size_t before = filesInFolder();
  writeNpy("x.npy", "<f4", "(4, 4)", std::string(48, '\0') + std::string(16, '\xff'));
  expectError("tiny.zexe --save=w --log=l" + data, "step 0: rank 1: the loss is NaN");
  EXPECT_EQ(filesInFolder(), before);
  EXPECT_EQ(run("tiny.zexe --save=w --log=l --allow-nan" + data), 0) << output;
  EXPECT_TRUE(exists("w") && exists("l"));
}

TEST_F(ZeroRun, StallIsAnErrorOfItsOwn) {
  expectError("tiny.zexe --quiet --timeout=1 --stall=1:2" + data,
              "step 0: rank 1 did not arrive at collective 2 ('reduce w') within 1 s");
}

} // namespace

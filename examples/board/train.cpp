// Trains an image classifier on a board, from images that another program writes.
//
// usage: train PROGRAM.zexe IMAGES.npy LABELS.npy STATE_FOLDER WEIGHTS.safetensors STEPS
//
// IMAGES.npy and LABELS.npy are ring buffers: files of N samples that are mapped, and in which a
// camera's program replaces the oldest sample. Goes on from the newest checkpoint in STATE_FOLDER.

#include <zero_rt/zero_rt.h>

#include <cstdio>
#include <cstdlib>

static void check(zero_rt_status status) {
  if (!status.code)
    return;
  std::fprintf(stderr, "train: %s\n", status.message);
  std::exit(1);
}

static void bind(zero_rt_data *data, const char *input, const char *path) {
  const zero_rt_data_file file = {path, nullptr, ZERO_RT_NO_DTYPE, 0, 0};
  check(zero_rt_data_bind_file(data, input, &file));
}

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: train PROGRAM.zexe IMAGES.npy LABELS.npy STATE_FOLDER "
                         "WEIGHTS.safetensors STEPS\n");
    return 2;
  }
  zero_rt_executable *program;
  check(zero_rt_executable_load(argv[1], &program));
  zero_rt_certificate memory;
  check(zero_rt_executable_certificate(program, 0, &memory));
  std::printf("memory: %llu bytes\n", static_cast<unsigned long long>(memory.peak));

  zero_rt_data *data;
  check(zero_rt_data_create(program, &data));
  bind(data, "pixel_values", argv[2]);
  bind(data, "labels", argv[3]);

  zero_rt_session *session;
  check(zero_rt_session_create(program, nullptr, &session));
  check(zero_rt_session_set_data(session, data));
  zero_rt_state_result state = {};
  const zero_rt_status found = zero_rt_session_load_state(session, argv[4], 0, &state);
  if (found.code != ZERO_RT_NOT_FOUND)
    check(found);

  const unsigned long long steps = std::strtoull(argv[6], nullptr, 10);
  for (unsigned long long step = state.step; step < steps; ++step) {
    zero_rt_step_result result;
    check(zero_rt_session_step(session, 0, &result));
    std::printf("step %llu: loss %.6f\n", step, result.loss);
    std::fflush(stdout);
    if ((step + 1) % 4 == 0) // appears by a rename: a loss of power leaves an older one
      check(zero_rt_session_save_state(session, argv[4]));
  }
  check(zero_rt_session_save(session, argv[5]));
  zero_rt_session_free(session);
  zero_rt_data_free(data);
  zero_rt_executable_free(program);
}

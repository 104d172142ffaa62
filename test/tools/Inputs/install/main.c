#include <stdio.h>
#include <zero_rt/zero_rt.h>

/* consumer PROGRAM.zexe DATA.npz: runs one step and prints the loss. */
int main(int argc, char **argv) {
  zero_rt_executable *program = NULL;
  zero_rt_session *session = NULL;
  zero_rt_data *data = NULL;
  zero_rt_data_file file = {argv[2], NULL, ZERO_RT_NO_DTYPE, 0, 0};
  zero_rt_session_options options;
  zero_rt_step_result result;
  zero_rt_session_options_default(&options);
  int failed = argc != 3 || zero_rt_executable_load(argv[1], &program).code ||
               zero_rt_session_create(program, &options, &session).code ||
               zero_rt_data_create(program, &data).code ||
               zero_rt_data_bind_file(data, "x", &file).code ||
               zero_rt_data_bind_file(data, "labels", &file).code ||
               zero_rt_session_set_data(session, data).code ||
               zero_rt_session_step(session, 0, &result).code;
  if (!failed)
    printf("zero_rt %s: step %d, loss %.4f\n", zero_rt_version(), (int)result.step, result.loss);
  zero_rt_session_free(session);
  zero_rt_data_free(data);
  zero_rt_executable_free(program);
  return failed;
}

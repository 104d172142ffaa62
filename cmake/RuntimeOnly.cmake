# The runtime, its C interface and zero-run, as boards have them: programs are compiled elsewhere.
add_subdirectory(runtime)
add_subdirectory(lib/Flags)
add_subdirectory(lib/Planning)
add_subdirectory(lib/Page)
add_subdirectory(tools/process)
add_subdirectory(tools/profiling)
add_subdirectory(tools/zero-run)
install(TARGETS zero-run)

# Several files at a time: `make test` compiles all this only for a few tests. Left out are libraries
# and files that define functions or constants of the same name as others, and files that
# libzero_mini.a leaves out.
set_target_properties(ZeroRunTool ZeroPlanning ZeroRtSupport ZeroProcesses ZeroVerify ZeroFormat ZeroIo
  ZeroCheckpoint ZeroLoad ZeroExecute ZeroSession PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
function(compile_alone target)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/runtime/)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
compile_alone(ZeroProcesses processes/secret.cpp)
compile_alone(ZeroFormat format/machine_file.cpp format/norms.cpp format/profile_file.cpp)
compile_alone(ZeroIo io/gguf_tokenizer.cpp io/onnx_rewriter.cpp io/ort_checkpoint.cpp
  io/ort_checkpoint_writer.cpp)
compile_alone(ZeroCheckpoint checkpoint/state_table.cpp checkpoint/writer.cpp)
compile_alone(ZeroLoad load/validate_gpu.cpp)
compile_alone(ZeroSession session/process_group.cpp session/weights.cpp)

# Tests as targets:
#   check-zero            all tests, as make test runs them
#   check-zero-fast       passes, dialects and checks of the sources: under a minute, no training
#   check-zero-roundtrip  every .mlir test, with the input printed and parsed again first
#   check-tidy            clang-tidy over all sources (scripts/check-tidy.sh): half an hour on two
#                         cores, so check-zero does not include it
# test/site.cfg.py of the build folder tells the tests where LLVM's tools are, and scripts/test.sh
# finds lit in its cache.

find_program(ZERO_LIT NAMES llvm-lit lit HINTS ${LLVM_EXTERNAL_LIT} ${LLVM_TOOLS_BINARY_DIR}
  DOC "LLVM's test runner")
find_program(ZERO_FILECHECK NAMES FileCheck HINTS ${LLVM_TOOLS_BINARY_DIR} DOC "LLVM's FileCheck")
foreach(tool LIT FILECHECK)
  if(NOT ZERO_${tool})
    message(WARNING "ZERO_${tool} was not found: tests cannot run")
  endif()
endforeach()
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(ZERO_LINK_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/site.cfg.py.in ${PROJECT_BINARY_DIR}/test/site.cfg.py @ONLY)

# What the tests run: tools, unit tests, installed files, and the library of failing system calls.
get_property(unit_tests GLOBAL PROPERTY ZERO_UNIT_TESTS)
get_property(mpi_plugins GLOBAL PROPERTY ZERO_MPI_PLUGINS)
set(ZERO_CHECK_TOOLS zero-opt zero-translate zeroc zero-run zero-sim zero-check)

add_custom_target(check-zero
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/test.sh ${PROJECT_BINARY_DIR}
  DEPENDS ${ZERO_CHECK_TOOLS} ${unit_tests} zero_rt zero-faults fuzz-readers fuzz-compiler transfers mpi-link-program
    ${mpi_plugins}
    $<TARGET_NAME_IF_EXISTS:zero_native>
  USES_TERMINAL COMMENT "Run all tests")

# zero_check(<name> <comment> <argument of lit>...): adds tests as a separate target.
function(zero_check name comment)
  add_custom_target(${name}
    COMMAND ${ZERO_LIT} --verbose --succinct --param build=${PROJECT_BINARY_DIR} ${ARGN}
      ${PROJECT_SOURCE_DIR}/test
    DEPENDS ${ZERO_CHECK_TOOLS} USES_TERMINAL VERBATIM COMMENT "${comment}")
endfunction()

# Tests that check sources and documents; the others compile or train models.
set(checks docs/c-api docs/docs docs/flags docs/passes tools/arrows tools/format tools/guards
  tools/help tools/list-optimizers tools/new-op tools/new-optimizer tools/new-pass
  tools/option-words tools/optimizers-once tools/tidy tools/update-checks)
list(JOIN checks "|" checks)
zero_check(check-zero-fast "Run the tests that need no training"
  "--filter=[.]mlir$|(${checks})[.]test$")
zero_check(check-zero-roundtrip "Run the tests of passes on programs that were printed and parsed"
  --param roundtrip=1)

add_custom_target(check-tidy
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-tidy.sh -p ${PROJECT_BINARY_DIR}
  USES_TERMINAL COMMENT "Run clang-tidy over all sources")

# Checks of kernels as targets and tests of a CMake build.
#
#   include(Raceproof)            # with this directory in CMAKE_MODULE_PATH
#   raceproof_add_check(NAME kernels PATHS src [ARGUMENTS --effort thorough …])
#
# The target NAME checks PATHS (relative to the current source directory) with the macros and include directories of this build,
# and fails where raceproof does; with testing enabled, so does a test of that name. Where raceproof is not installed, a message says
# so, and the target fails with it when it is built: nothing passes unchecked. RACEPROOF_EXECUTABLE names another raceproof.
#
# Deliberately absent: a check in each build. Kernels that the build compiles are checked when the target is asked for.

include_guard(GLOBAL)
find_program(RACEPROOF_EXECUTABLE raceproof DOC "The raceproof that checks kernels")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

function(raceproof_add_check)
  cmake_parse_arguments(PARSE_ARGV 0 check "" "NAME" "PATHS;ARGUMENTS")
  if(check_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "raceproof_add_check: what is meant by ${check_UNPARSED_ARGUMENTS}? It takes NAME, PATHS and ARGUMENTS")
  endif()
  if(NOT check_NAME OR NOT check_PATHS)
    message(FATAL_ERROR "raceproof_add_check: NAME and PATHS are needed")
  endif()
  if(NOT RACEPROOF_EXECUTABLE)
    message(WARNING "raceproof is not installed (pip install raceproof): the target ${check_NAME} will fail")
    add_custom_target(${check_NAME}
      COMMAND ${CMAKE_COMMAND} -E echo "raceproof is not installed: pip install raceproof, and configure again"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    return()
  endif()
  set(command "${RACEPROOF_EXECUTABLE}" check -p "${CMAKE_BINARY_DIR}" ${check_ARGUMENTS} ${check_PATHS})
  add_custom_target(${check_NAME}
    COMMAND ${command}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    USES_TERMINAL VERBATIM
    COMMENT "Checking kernels for data races and barrier divergence")
  if(BUILD_TESTING)
    add_test(NAME ${check_NAME} COMMAND ${command} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
endfunction()

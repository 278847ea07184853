# cmake -D PROGRAM=... -D FILE=... -P list_suites.cmake: tells ctest of each suite of a GoogleTest program. The suites of
# a typed test are one: in a filter a type's name may mean something else (zb-h1: zb, but not h1).

execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[A-Za-z0-9_]+[./]" suites "\n${listed}")
list(TRANSFORM suites REPLACE "[\n./]" "")
list(REMOVE_DUPLICATES suites)
set(text "")
foreach(suite IN LISTS suites)
  string(APPEND text "add_test(${suite} [[${PROGRAM}]] --gtest_filter=${suite}.*:${suite}/*)\n")
  # At the very end: tests that failed are listed after those that were skipped, and make the suite fail.
  string(APPEND text "set_tests_properties(${suite} PROPERTIES SKIP_REGULAR_EXPRESSION [[\\[  SKIPPED \\] [^\n]*\n*$]])\n")
endforeach()
file(WRITE ${FILE} "${text}")

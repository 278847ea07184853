# cmake -D PROGRAM=... -D FILE=... -P list_suites.cmake: tells ctest of each suite of a GoogleTest program. The suites of
# a typed test are one: in a filter a type's name may mean something else (zb-h1: zb, but not h1).

execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "#[^\n]*" "" listed "${listed}")  # values of parameters
string(REGEX MATCHALL "\n[A-Za-z0-9_]+[./]|\n  " lines "\n${listed}")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "[A-Za-z0-9_]+")
    set(suite ${CMAKE_MATCH_0})
    list(APPEND suites ${suite})
  else()
    math(EXPR cases_${suite} "${cases_${suite}} + 1")
  endif()
endforeach()
list(REMOVE_DUPLICATES suites)
set(text "")
foreach(suite IN LISTS suites)
  # Few cases that take longer than many.
  if(suite MATCHES "^(KnownWork|PlanOrder|PlannerTasks|Progress)$")
    set(cases_${suite} 1000)
  endif()
  string(APPEND text "add_test(${suite} [[${PROGRAM}]] --gtest_filter=${suite}.*:${suite}/*)\n")
  # At the very end: tests that failed are listed after those that were skipped, and make the suite fail. Suites of many
  # cases start first, so that no core waits for a late long one.
  string(APPEND text "set_tests_properties(${suite} PROPERTIES COST ${cases_${suite}} "
                     "SKIP_REGULAR_EXPRESSION [[\\[  SKIPPED \\] [^\n]*\n*$]])\n")
endforeach()
file(WRITE ${FILE} "${text}")

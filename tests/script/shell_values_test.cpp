// Values that shell scripts cut, count and keep to themselves.

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <utility>

#include "titer/input/reader.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// What the flag --x of a script's command is given, as JSON.
std::string given(const std::string& script) {
  const ArgumentText found = parse_arguments(script, "s.sh");
  const Value* const value = found.flags.root.find("--x");
  return value == nullptr ? "nothing" : to_json(*value, 0);
}

struct Case {
  std::string_view script;
  std::string_view value;
};

template <std::size_t n>
void expect(const std::array<Case, n>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(given(std::string(c.script)), c.value) << c.script;
  }
}

TEST(ShellValues, EndsAreCut) {
  expect(std::array<Case, 9>{{
      {R"(F=a/llama.8b.json; t.py --x ${F%.json})", R"("a/llama.8b")"},
      {R"(F=a/llama.8b.json; t.py --x ${F%.*})", R"("a/llama.8b")"},
      {R"(F=a/llama.8b.json; t.py --x ${F%%.*})", R"("a/llama")"},
      {R"(F=a/llama.8b.json; t.py --x ${F##*/})", R"("llama.8b.json")"},
      {R"(F=a/b/c; t.py --x ${F#*/})", R"("b/c")"},
      {R"(F=8B; S=B; t.py --x "${F%$S}")", R"("8")"},
      {R"(F=8B; t.py --x ${F%T})", R"("8B")"},
      {R"(t.py --x ${F%.json})", R"("${F%.json}")"},
      {R"(F=${1%B}; t.py --x $F)", R"("${1%B}")"},
  }});
}

TEST(ShellValues, PartsAreReplacedAndTaken) {
  expect(std::array<Case, 9>{{
      {R"(F=a-b-a; t.py --x ${F/a/c})", R"("c-b-a")"},
      {R"(F=a-b-a; t.py --x ${F//a/c})", R"("c-b-c")"},
      {R"(F=7B; t.py --x ${F/B})", R"("7")"},
      {R"(F=70B; t.py --x ${F:0:2})", R"("70")"},
      {R"(F=70B; t.py --x ${F:1})", R"("0B")"},
      {R"(F=70B; t.py --x ${F: -1})", R"("B")"},
      {R"(F=abc; t.py --x ${#F})", R"("3")"},
      {R"(F=(a b c d); t.py --x ${#F[@]})", R"("4")"},
      {R"(F=llama; t.py --x ${F^})", R"("Llama")"},
  }});
}

TEST(ShellValues, LoopsCount) {
  expect(std::array<Case, 6>{{
      {R"(A=; for ((i=0;i<3;i++)); do A="$A$i"; done; t.py --x n$A)", R"("n012")"},
      {R"(A=; for (( i = 4; i > 0; i -= 2 )); do A="$A$i"; done; t.py --x n$A)", R"("n42")"},
      {R"(N=2; for ((i=0, k=1; i<N; ++i)); do ((k *= 3)); done; t.py --x $k)", R"("9")"},
      {R"(i=0; while ((i < 3)); do ((i++)); done; t.py --x $i)", R"("3")"},
      {R"(N=1; for ((i=0;i<$1;i++)); do N=2; done; t.py --x $N)", R"("1")"},
      {R"(N=1; for ((i=0;i<1000;i++)); do N=2; done; t.py --x $N)", R"("1")"},
  }});
}

TEST(ShellValues, WhatAFunctionHasAsItsOwnStaysThere) {
  expect(std::array<Case, 4>{{
      {R"(A=1; f() { local A=2; B=$A; }; f; t.py --x $A$B)", R"("12")"},
      {R"(f() { local A; A=2; }; A=1; f; t.py --x $A)", R"("1")"},
      {R"(f() { A=2; }; A=1; f; t.py --x $A)", R"("2")"},
      {R"(f() { local P=$1; shift; t.py --x $P "${@:2}"; }; f a b c d)", R"(["a","c","d"])"},
  }});
}

TEST(ShellValues, EveryCharacterKnowsItsLine) {
  const ArgumentText found = parse_arguments("A=\"--y 1\n  --z\n2\"\nt.py --x 3 \\\n $A", "s.sh");
  ASSERT_EQ(found.flags.root.members.size(), 3U);
  EXPECT_EQ(found.flags.root.key_origins[1].line, 1);
  EXPECT_EQ(found.flags.root.key_origins[1].column, 4);
  EXPECT_EQ(found.flags.root.key_origins[2].line, 2);
  EXPECT_EQ(found.flags.root.key_origins[2].column, 3);
}

/// Seconds of this process for a script of so many lines.
double seconds(std::size_t lines) {
  std::string script;
  for (std::size_t i = 0; i < lines; ++i) {
    script += "--flag-" + std::to_string(i) + " \"some value of it\" \\\n";
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(parse_arguments("t.py " + script, "s.sh").flags.root.members.size(), lines);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(ShellValues, TenTimesTheFlagsTakeNoHundredTimesAsLong) {
  const double few = seconds(4'000);
  EXPECT_LT(seconds(40'000), 40 * few + 0.05);
}

TEST(ShellValues, PlacesOfItemsAndNamesOfNames) {
  expect(std::array<Case, 5>{{
      {"M=(a b c)\nfor i in \"${!M[@]}\"; do t.py --x ${M[$i]} --y; break; done", R"("a")"},
      {"M=(a b)\nt.py --x ${!M[@]}", R"(["0","1"])"},
      {"SIZE=7B; N=SIZE; t.py --x ${!N}", R"("7B")"},
      {"N=7B; t.py --x ${!N}", R"("${!N}")"},
      {"t.py --x ${!OTHER}", R"("${!OTHER}")"},
  }});
}

TEST(ShellValues, WhatIsToBeFilledInIsNoRedirection) {
  expect(std::array<Case, 5>{{
      {"t.py --a <path to it> --x 3", "\"3\""},
      {"t.py --x <model_dir> --y 2", R"("<model_dir>")"},
      {"t.py --x=<model_dir>/out --y 2", "\"\""},  // a redirection, as nothing blank follows
      {"t.py --x 3 <in >out", "\"3\""},
      {"t.py --x 3 < in > out --y 4", "\"3\""},
  }});
}

TEST(ShellValues, AScriptThatIsWrittenAndStartedIsGoneThrough) {
  expect(std::array<Case, 5>{{
      {"N=job; cat > $N <<E\nt.py --x 3\nE\nsbatch $N", R"("3")"},
      {"M=7B; cat <<E > run.sh\n#!/bin/bash\nt.py --x $M \\$M\nE\nbash ./run.sh", R"("7B")"},
      {"cat > run <<'E'\nt.py --x $1\nE\nchmod +x run\n./run 5", R"("5")"},
      {"cat > hosts <<E\nt.py --x 3\nE\ncat hosts", "nothing"},
      {"cat > run.sh <<E\nbash run.sh\nE\nbash run.sh; t.py --x 1", R"("1")"},
  }});
}

TEST(ShellValues, ItemsMayHaveNames) {
  const std::string layers = "declare -A L\nL=([\"350M\"]=24 [\"1.7B\"]=36)\nS=1.7B\n";
  const std::array<std::pair<std::string, std::string_view>, 8> cases = {
      {{layers + "t.py --x ${L[$S]}", R"("36")"},
       {layers + "t.py --x ${L[\"350M\"]} --y", R"("24")"},
       {layers + "[ -n \"${L[$S]}\" ] && N=${L[$S]}; t.py --x $N", R"("36")"},
       {layers + "L[7B]=48; S=7B; t.py --x ${L[$S]}", R"("48")"},
       {layers + "L[1.7B]=30; t.py --x ${L[$S]}", R"("30")"},
       {layers + "t.py --x ${!L[@]}", R"(["350M","1.7B"])"},
       {layers + "t.py --x ${L[@]}", R"(["24","36"])"},
       {"A=(1 2); A[1]=5; A[2]=6; t.py --x ${A[@]}", R"(["1","5","6"])"}}};
  for (const auto& [script, value] : cases) {
    EXPECT_EQ(given(script), value) << script;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer

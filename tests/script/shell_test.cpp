// What flags shell scripts give their commands.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "script/texts.hpp"
#include "titer/input/reader.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::refusal_of;

std::string flags(const std::string& script, const Defines& defines = {}) {
  return to_json(parse_arguments(script, "s.sh", defines).flags.root, 0);
}

/// A script and what its command is given.
struct Case {
  std::string_view script;
  std::string_view flags;
};

template <std::size_t n>
void expect(const std::array<Case, n>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(flags(std::string(c.script)), c.flags) << c.script;
  }
}

std::vector<std::string> assumed(const std::string& script, const Defines& defines = {}) {
  return parse_arguments(script, "s.sh", defines).assumed;
}

/// The lines of what is to be told first.
std::vector<std::string> choices(const std::string& script, const Defines& defines = {}) {
  std::vector<std::string> lines;
  for (const ArgumentChoice& choice : parse_arguments(script, "s.sh", defines).choices) {
    lines.push_back(choice.line);
  }
  return lines;
}

std::string refusal(const std::string& script) {
  return refusal_of([&] { return parse_arguments(script, "s.sh"); });
}

using Lines = std::vector<std::string>;

TEST(Shell, TheCommandWithTheMostFlagsIsRead) {
  const ArgumentText found = parse_arguments(
      "A=\"--num-layers 2\n  --bf16\"\nB=( --lr=1e-4 'a b' )  # --not this\n"
      "run.py $A \"${B[@]}\" --list 1 2 \\\r\n  3 --num-layers 4; other --more; echo --printed\n",
      "s.sh");
  // After an equals sign there is one value; of a flag given twice the last one counts.
  EXPECT_EQ(to_json(found.flags.root, 0),
            R"({"--num-layers":"4","--bf16":true,"--lr":"1e-4","--list":["1","2","3"]})");
  EXPECT_EQ(found.flags.where(found.flags.root.find("--list")->origin), "s.sh:4:21");
  EXPECT_EQ(found.scripts, Lines{"run.py"});
  EXPECT_TRUE(found.assumed.empty());
}

TEST(Shell, OfCommandsWithAsManyFlagsTheFirstIsReadAndSaid) {
  const std::string script = "for n in 2 4 8; do\n  run --num-layers $n --lr 1\ndone\n";
  EXPECT_EQ(flags(script), R"({"--num-layers":"2","--lr":"1"})");
  EXPECT_EQ(
      assumed(script),
      Lines{"s.sh:2:3: this command is read, the first of those with the most flags; 2 others "
            "are not"});
  EXPECT_TRUE(assumed("run --a 1 --b 2 --c 3\nclean --a 1\n").empty());
}

TEST(Shell, WordsAreSplitAndQuotedAsAShellDoes) {
  expect(std::array<Case, 11>{
      {{"run --a 'b c' --d \"e f\" --g h\\ i", R"({"--a":"b c","--d":"e f","--g":"h i"})"},
       {"X='1 2'; run --a $X --b \"$X\"", R"({"--a":["1","2"],"--b":"1 2"})"},
       {"run --a ${x:-\"b\"} --c \"${x:-\"d\"}\" --e \"${x:-\"${y:-f}\"}\"",
        R"({"--a":"b","--c":"d","--e":"f"})"},
       {"X=; run --a \"${X:-1}\" --b \"${X-2}\" --c=${X:+3}${Y:+4}",
        R"({"--a":"1","--b":"","--c":""})"},
       {"X=ab; run --a pre${X}post --b $X$X --c '$X' --d \"\\$X\"",
        R"({"--a":"preabpost","--b":"abab","--c":"$X","--d":"$X"})"},
       {"X=Gpt; run --a ${X,,} --b ${X^^}", R"({"--a":"gpt","--b":"GPT"})"},
       {"run --a 1 \\\n  --b 2 \\\n  # --c 3\n", R"({"--a":"1","--b":"2"})"},
       {"run --a 1 # --b 2\nX='# --c'; run2 --a#b 1", R"({"--a":"1"})"},
       {"X=\"--a 1\" && run $X --b \"it's\" > out.txt 2>&1 < in | tee --c",
        R"({"--a":"1","--b":"it's"})"},
       {": \"${X:=8192}\"\n: ${Y:=$((X * 2))}\nrun --a $X --b $Y",
        R"({"--a":"8192","--b":"16384"})"},
       {"X=1\n: ${X:=2}\nrun --a $X", R"({"--a":"1"})"}}});
}

TEST(Shell, ArraysAreTheirElements) {
  expect(std::array<Case, 7>{
      {{"A=(--a 1)\nA+=(--b \"2 3\")\nrun \"${A[@]}\"", R"({"--a":"1","--b":"2 3"})"},
       {"A=(\n  --a 1  # first\n  # --b 2\n  --c 3\n)\nrun ${A[@]}", R"({"--a":"1","--c":"3"})"},
       // A flag and its value in one pair of quotes.
       {"A=(\"--a 1\" \"--b\")\nrun ${A[@]}", R"({"--a":"1","--b":true})"},
       {"A=(\"--a 1\" \"--b\")\nrun \"${A[@]}\"", R"({"--a":"1","--b":true})"},
       {"A=(4 8 16)\nrun --a ${A[1]} --b ${A[*]}", R"({"--a":"8","--b":["4","8","16"]})"},
       {"declare -a A=(--a 1); B=(\"${A[@]}\" --b 2); run ${B[@]}", R"({"--a":"1","--b":"2"})"},
       {"A=\"--a 1\"; A+=\" --b 2\"; A=\"$A --c 3\"; run $A",
        R"({"--a":"1","--b":"2","--c":"3"})"}}});
}

TEST(Shell, ArithmeticIsOfIntegers) {
  expect(std::array<Case, 4>{
      {{"N=4; G=8; run --a $((N * G)) --b $(( (N + 1) * 2 ** 3 )) --c $(($N-G))",
        R"({"--a":"32","--b":"40","--c":"-4"})"},
       {"run --a $((7 / 2)) --b $((7 % 4)) --c $((1 << 10)) --d $((3 > 2 ? 5 : 6))",
        R"({"--a":"3","--b":"3","--c":"1024","--d":"5"})"},
       // What cannot be told, or is no number, stays as it is written.
       {"run --a $((N / 2)) --b $((1 / 0))", R"_({"--a":"$((N / 2))","--b":"$((1 / 0))"})_"},
       {"run --a $((9223372036854775807 + 1))", R"_({"--a":"$((9223372036854775807 + 1))"})_"}}});
}

TEST(Shell, FunctionsAreCalledWithTheirArguments) {
  expect(std::array<Case, 5>{
      {{"run() { train --a $1 --b \"$2\"; }\nrun 1 '2 3'", R"({"--a":"1","--b":"2 3"})"},
       {"function size { L=$1; }\nsize 12\nrun --a $L", R"({"--a":"12"})"},
       {"f() { A=$1; shift 2; B=$1; }\nf 1 2 3\nrun --a $A --b $B", R"({"--a":"1","--b":"3"})"},
       // Of two arguments no three can be moved.
       {"f() { shift 3; A=$1; }\nf 1 2\nrun --a $A", R"({"--a":"1"})"},
       {"f() { run --a 1 \"$@\"; }\nf --b 2", R"({"--a":"1","--b":"2"})"}}});
  EXPECT_EQ(flags("f() { run --a $1; }\nf 1", {{"1", "5"}}), R"({"--a":"1"})");
}

TEST(Shell, ConditionsThatAreToldAreFollowed) {
  expect(std::array<Case, 8>{
      {{"X=b; if [ $X = a ]; then A='--a 1'; elif [[ \"$X\" == b ]]; then A='--b 2'; else A=--c; "
        "fi\n"
        "run $A",
        R"({"--b":"2"})"},
       {"N=8; if (( N > 4 )); then A='--big 1'; fi; run --n $N $A", R"({"--n":"8","--big":"1"})"},
       {"X=7b; case $X in 1b|3b) L=16;; 7*) L=32;; *) L=0;; esac; run --a $L", R"({"--a":"32"})"},
       {"X=1; [ $X -eq 1 ] && A='--a 1' || A='--b 2'; run $A", R"({"--a":"1"})"},
       {"X=1; [[ $X -ne 1 ]] && A='--a 1'; run --b 2 $A", R"({"--b":"2"})"},
       {"if [ -z \"$NOBODY\" ]; then A='--a 1'; fi; run $A", R"({"--a":"1"})"},
       {"X=true; if $X; then A='--a 1'; fi; run $A", R"({"--a":"1"})"},
       {"if [ ! -d data ]; then echo no; exit 1; fi\nrun --a 1", R"({"--a":"1"})"}}});
}

TEST(Shell, AConditionThatNothingTellsIsAChoiceToBeTold) {
  const std::string conditional =
      "if [ $1 = moe ]; then\n  A='--num-experts 8'\nelse\n  A=--dense\nfi\nrun --n 1 $A\n";
  EXPECT_EQ(
      choices(conditional),
      Lines{"s.sh:1:4: [ $1 = moe ]: is not told by the file, and the flags in A depend on it; "
            "--define 1=VALUE tells it: moe"});
  EXPECT_EQ(flags(conditional, {{"1", "moe"}}), R"({"--n":"1","--num-experts":"8"})");
  EXPECT_EQ(flags(conditional, {{"1", "other"}}), R"({"--n":"1","--dense":true})");
  EXPECT_TRUE(choices(conditional, {{"1", "moe"}}).empty());
  const std::string choice =
      "SIZE=$1\ncase $SIZE in\n  1b) A='--l 16' ;;\n  7b) A='--l 32' ;;\nesac\nrun $A\n";
  EXPECT_EQ(choices(choice),
            Lines{"s.sh:2:1: case $SIZE: is not told by the file, and the flags in A depend on it; "
                  "--define SIZE=VALUE tells it: 1b or 7b"});
  EXPECT_EQ(flags(choice, {{"SIZE", "7b"}}), R"({"--l":"32"})");
  EXPECT_EQ(flags(choice, {{"1", "7b"}}), R"({"--l":"32"})");
  // A value of a flag that depends on it is left open.
  EXPECT_EQ(flags("if [ $1 = a ]; then L=1; else L=2; fi\nrun --l $L --k 3"),
            R"({"--l":"${L}","--k":"3"})");
  // Branches that come to the same are none.
  EXPECT_EQ(flags("if [ $1 = a ]; then L=1; else L=1; fi\nrun --l $L"), R"({"--l":"1"})");
}

TEST(Shell, WhatNobodyCanTellIsTakenAsFalseAndSaid) {
  const std::string script = "if grep -q big list; then A='--a 1'; fi\nrun --b 2 $A\n";
  EXPECT_EQ(flags(script), R"({"--b":"2"})");
  EXPECT_EQ(assumed(script),
            (Lines{"s.sh:1:4: grep -q big list: taken as false",
                   "s.sh:2:11: A: is not set, taken as empty"}));
  // Where it would only end the script, nothing depends on it.
  EXPECT_TRUE(assumed("if grep -q big list; then echo --a; exit 1; fi\nrun --b 2\n").empty());
  EXPECT_EQ(assumed("TP=1\nsource ./settings.sh\nrun --tp $TP\n"),
            Lines{"s.sh:2:8: ./settings.sh: is not read, and sets nothing"});
}

TEST(Shell, LoopsThatAreToldAreGoneThrough) {
  expect(std::array<Case, 6>{
      {{"for x in 1 2 3; do A=\"$A --a$x $x\"; done; run $A",
        R"({"--a1":"1","--a2":"2","--a3":"3"})"},
       {"n=0; while [ $n -lt 3 ]; do n=$((n + 1)); done; run --a $n", R"({"--a":"3"})"},
       {"n=8; until (( n < 2 )); do n=$((n / 2)); done; run --a $n", R"({"--a":"1"})"},
       {"for x in 1 2 3; do if [ $x = 2 ]; then break; fi; A=$x; done; run --a $A",
        R"({"--a":"1"})"},
       {"for x in 1 2 3; do [ $x = 3 ] && continue; A=$x; done; run --a $A", R"({"--a":"2"})"},
       {"f() { for x; do A=$x; done; }\nf 4 5\nrun --a $A", R"({"--a":"5"})"}}});
}

TEST(Shell, WhatLoopsThatAreNotToldWouldSetStaysAndIsSaid) {
  const std::string options =
      "TP=1\nPP=2\nwhile [[ $# -gt 0 ]]; do\n  case $1 in\n    --tp) TP=$2; shift 2 ;;\n"
      "    --moe) MOE=\"--num-experts 8\"; shift ;;\n    *) echo \"--help\"; exit 1 ;;\n  "
      "esac\ndone\n"
      "run --tp $TP --pp $PP $MOE\n";
  EXPECT_EQ(flags(options), R"({"--tp":"1","--pp":"2"})");
  EXPECT_EQ(
      assumed(options),
      Lines{"s.sh:3:1: while [[ $# -gt 0 ]]: is not followed, and what it sets stays as it is "
            "before it: MOE, TP"});
  // What is told in its place is no loss.
  EXPECT_EQ(flags(options, {{"TP", "4"}}), R"({"--tp":"4","--pp":"2"})");
  EXPECT_EQ(
      assumed(options, {{"TP", "4"}}),
      Lines{"s.sh:3:1: while [[ $# -gt 0 ]]: is not followed, and what it sets stays as it is "
            "before it: MOE"});
  struct Loop {
    std::string_view head;
    std::string_view shown;
  };
  const std::array<Loop, 5> loops = {
      {{"for ((i = 0; i < $1; i++)); do", "for (( i = 0; i < $1; i++ ))"},
       {"for i in $(seq 4); do", "for i in $(seq 4)"},
       {"for i in \"$@\"; do", "for i in \"$@\""},
       {"for i; do", "for i in \"$@\""},
       {"while read -r line; do", "while read -r line"}}};
  for (const Loop& loop : loops) {
    const std::string script = std::string(loop.head) + " A=\"--a 1\"; done\nrun --b 2 $A\n";
    EXPECT_EQ(flags(script), R"({"--b":"2"})") << script;
    EXPECT_EQ(assumed(script),
              Lines{"s.sh:1:1: " + std::string(loop.shown) +
                    ": is not followed, and what it sets stays as it is before it: A"});
  }
  std::string many = "for i in";
  for (int i = 0; i < 65; ++i) {
    many += " 1";
  }
  EXPECT_EQ(assumed(many + "; do A=$i; done\nrun --b $A").size(), 1u);
  // One that sets nothing loses nothing.
  EXPECT_TRUE(assumed("while ! nc -z host 1; do sleep 1; done\nrun --b 2").empty());
}

TEST(Shell, TheScriptsOwnArgumentsAreNobodysToKnow) {
  EXPECT_EQ(flags("run --a $1 --b ${2:-3}"), R"({"--a":"${1}","--b":"3"})");
  EXPECT_EQ(flags("shift\nrun --a $1", {{"1", "x"}, {"2", "y"}}), R"({"--a":"y"})");
  EXPECT_EQ(flags("TP=$1\nrun --a $TP"), R"({"--a":"${TP}"})");
  EXPECT_EQ(assumed("run --a 1 \"$@\""),
            Lines{"s.sh:1:11: the script's own arguments are taken as none"});
  EXPECT_EQ(flags("main() { run --a $1; }\nmain \"$@\""), R"({"--a":"${1}"})");
}

TEST(Shell, LaunchersAreReadWithWhatTheyLaunch) {
  struct Launch {
    std::string_view script;
    std::string_view flags;
    Lines of_launcher;
  };
  const std::array<Launch, 6> cases = {
      {{"torchrun --nnodes 2 --nproc_per_node=8 pretrain_gpt.py --a 1",
        R"({"--nnodes":"2","--nproc_per_node":"8","--a":"1"})",
        {"--nnodes", "--nproc_per_node"}},
       {"python -m torch.distributed.run --nproc-per-node 4 train.py --a 1",
        R"({"--nproc-per-node":"4","--a":"1"})",
        {"--nproc-per-node"}},
       {"deepspeed --num_nodes 2 --num_gpus 8 train.py --deepspeed --a 1",
        R"({"--num_nodes":"2","--num_gpus":"8","--deepspeed":true,"--a":"1"})",
        {"--num_nodes", "--num_gpus"}},
       {"accelerate launch --num_processes 16 --num_machines 2 train.py --a 1",
        R"({"--num_processes":"16","--num_machines":"2","--a":"1"})",
        {"--num_processes", "--num_machines"}},
       {"srun --nodes=2 --ntasks-per-node 8 python -u train.py --a 1",
        R"({"--nodes":"2","--ntasks-per-node":"8","--a":"1","--num_processes":"16"})",
        {"--nodes", "--ntasks-per-node", "--num_processes"}},
       {"L=\"torchrun --nnodes 2\"\nsrun --wait=60 bash -c \"$L --node_rank \\$SLURM_PROCID t.py "
        "--a 1\"",
        R"({"--wait":"60","--nnodes":"2","--node_rank":"${SLURM_PROCID}","--a":"1"})",
        {"--wait", "--nnodes", "--node_rank"}}}};
  for (const Launch& c : cases) {
    const ArgumentText found = parse_arguments(c.script, "s.sh");
    EXPECT_EQ(to_json(found.flags.root, 0), c.flags) << c.script;
    EXPECT_EQ(found.of_launcher, c.of_launcher) << c.script;
  }
}

TEST(Shell, PipesAndRedirectionsEndACommandWhereverItsWordsCameFrom) {
  for (const std::string_view end : {"2>&1 | tee log",
                                     "| tee -a log --x 9",
                                     "> log 2>&1",
                                     "&> log",
                                     ">> log",
                                     "|& tee log",
                                     "; echo --x 9",
                                     "&& echo --x 9",
                                     "|| exit 1",
                                     "&",
                                     "> >(tee log) 2>&1"}) {
    const std::string flag(end);
    SCOPED_TRACE(flag);
    // As written, in a text that is run, and in one whose words are handed on.
    for (const std::string& script : {"run --a 1 --b " + flag,
                                      "eval run --a 1 --b '" + flag + "'",
                                      "C=\"run --a 1 --b " + flag + "\"\neval $C",
                                      "C=\"run --a 1 --b " + flag + "\"\neval \"$C\"",
                                      "C=\"run --a 1\"\nC=\"$C\n --b\"\neval ${C} \"" + flag + '"',
                                      "C=\"run --a 1 --b " + flag + "\"\nbash -c \"$C\"",
                                      "C=\"run --a 1 --b " + flag + "\"\n$C",
                                      "C=\"run --a 1 --b\"\n${C} " + flag}) {
      EXPECT_EQ(flags(script), R"({"--a":"1","--b":true})") << script;
    }
  }
  // Quotes within a text for eval hold what a command would end at; in quotes, or as part of a
  // value, these are values.
  expect(std::array<Case, 6>{
      {{"C=\"run --a '([0]*3+[1]*24)' --b 'x | y'\"\nC=\"$C | tee log\"\neval ${C}",
        R"_({"--a":"([0]*3+[1]*24)","--b":"x | y"})_"},
       {"C=\"run --a 1 --b; echo --x\"\n$C", R"({"--a":"1","--b":true})"},
       {"run --a '|' --b \"2>&1\"", R"({"--a":"|","--b":"2>&1"})"},
       {"P='Et|(tt|)*3'\nC=\"--a <pad> --b $P\"\nrun $C",
        R"_({"--a":"<pad>","--b":"Et|(tt|)*3"})_"},
       {"A=\"--a 1 --b 2>&1 | tee log\"", R"({"--a":"1","--b":true})"},
       // Options that a script is handed in one word, on lines of their own.
       {"A=\"\n --a 1\n --b\n\"\nmpirun bash entry.sh t.py \"${A} --c 2\"",
        R"({"--a":"1","--b":true,"--c":"2"})"}}});
}

TEST(Shell, VariablesThatAllStandInTheCommandAreNoFileOfTheirOwn) {
  const ArgumentText found = parse_arguments(
      "A=\"--a 1 --b 2\"\nA=\"$A --c 3\"\nB=\"$A --d 4\"\nC=\"torchrun --nnodes 2 t.py $B\"\n"
      "C=\"$C --e 5\"\neval $C",
      "s.sh");
  EXPECT_EQ(to_json(found.flags.root, 0),
            R"({"--nnodes":"2","--a":"1","--b":"2","--c":"3","--d":"4","--e":"5"})");
  EXPECT_EQ(found.of_launcher, Lines{"--nnodes"});
  // Of a file that runs nothing, a launcher's flags are those of the variable that it stands in.
  const ArgumentText sourced =
      parse_arguments("A=\"--a 1\"\nB=\"torchrun --nnodes 2 t.py --b 2\"", "s.sh");
  EXPECT_EQ(sourced.of_launcher, Lines{"--nnodes"});
}

TEST(Shell, HeadsThatStartAProcessForEachDeviceTellHowMany) {
  struct Head {
    std::string_view launch;
    std::string_view processes;  // "" where it does not tell
  };
  const std::array<Head, 24> cases = {{{"mpirun -np 32 --bind-to none -x PATH python", "32"},
                                       {"mpirun --np 32 -N 8 python3 -u", "32"},
                                       {"/opt/mpi/bin/mpirun -n 16 --npernode 8 python", "16"},
                                       {"mpiexec -n 16 -ppn 8 python", "16"},
                                       {"mpirun -H a:8,b:8 python", "16"},
                                       {"mpirun --host a,b -npernode 8 python", "16"},
                                       {"mpirun -H a,b --map-by ppr:4:node python", "8"},
                                       {"mpirun -H a,b python", ""},
                                       {"mpirun --hostfile hosts python", ""},
                                       {"horovodrun -np 16 -H a:8,b:8 python", "16"},
                                       {"mpirun -np $N python", "${N}"},
                                       {"mpirun -np $((2 * 8)) python", "16"},
                                       {"mpirun -np 4 -npernode 1 python", ""},
                                       {"mpirun -np 2 torchrun --nproc_per_node 8", ""},
                                       {"mpirun -np 2 -npernode 1 bash -c \"python", "\""},
                                       {"srun -N 4 --ntasks-per-node=8 python", "32"},
                                       {"srun --nodes 4 --ntasks-per-node 8 python", "32"},
                                       {"srun -N4 -n32 python", "32"},
                                       {"srun --ntasks=32 python", "32"},
                                       {"srun -N 4 python", ""},
                                       {"srun -N 4 --ntasks-per-node=1 python", ""},
                                       {"srun -N 4 -n 4 python", ""},
                                       {"srun -N 4 -n 32 torchrun --nproc-per-node 8", ""},
                                       {"python", ""}}};
  for (const Head& c : cases) {
    const bool in_quotes = c.processes == "\"";
    const std::string script = std::string(c.launch) + " t.py --a 1" + (in_quotes ? "\"" : "");
    const Document found = parse_arguments(script, "s.sh").flags;
    const Value* const processes = found.root.find("--num_processes");
    EXPECT_EQ(processes == nullptr ? "" : processes->text, in_quotes ? "" : c.processes) << script;
  }
  // What Slurm is asked for counts where the step is told nothing else.
  constexpr std::string_view batch = "#SBATCH -N 4\n#SBATCH --ntasks-per-node=8\nsrun ";
  EXPECT_EQ(parse_arguments(std::string(batch) + "python t.py --a 1", "s.sh")
                .flags.root.at("--num_processes")
                ->text,
            "32");
  EXPECT_EQ(parse_arguments(std::string(batch) + "--nodes=2 python t.py --a 1", "s.sh")
                .flags.root.at("--num_processes")
                ->text,
            "16");
}

TEST(Shell, WhatIsPrintedIsNoCommand) {
  expect(std::array<Case, 4>{
      {{"echo \"usage: $0 --a 1 --b 2\"\nprintf '%s' --c\nrun --d 3", R"({"--d":"3"})"},
       {"cat <<END\nusage: --a 1 --b 2 it's\nEND\nrun --d 3", R"({"--d":"3"})"},
       {"usage() { echo --a --b --c; exit 1; }\nrun --d 3", R"({"--d":"3"})"},
       {"CMD=\"run --a 1\n  --b 2\"\necho $CMD\neval $CMD", R"({"--a":"1","--b":"2"})"}}});
}

TEST(Shell, WhatWouldStopForWantOfAFileDoesNot) {
  constexpr std::string_view script = "A=(--a 1)\nB=\"--b 2\"\n";
  for (const std::string_view stop : {"[[ -f ${IMAGE} ]] || { echo \"no $IMAGE\" ; exit -1 ; }",
                                      "[ ! -d /data ] && { exit 1; }",
                                      "[ -f x ] || (echo none; exit 1)",
                                      "die() { echo none; exit 1; }\ntest -e x || die none"}) {
    std::string text(script);
    text.append(stop).append("\nrun ${A[@]} $B --c 3");
    SCOPED_TRACE(text);
    const std::string whole = text;
    expect(std::array<Case, 1>{{{whole, R"({"--a":"1","--b":"2","--c":"3"})"}}});
  }
}

TEST(Shell, AScriptThatRunsNothingIsWhatItsVariablesHold) {
  expect(std::array<Case, 2>{
      {{"export A=\"--a 1 --b 2\"\nB=(--c 3)\n", R"({"--a":"1","--b":"2","--c":"3"})"},
       {"train() { run --a 1 --b $N; }\nN=4\n", R"({"--a":"1","--b":"4"})"}}});
}

TEST(Shell, HereDocumentsAreKeptByTheNamesOfTheirFiles) {
  const ArgumentText found = parse_arguments(
      "STAGE=1\nF=ds.json\ncat <<END > $F\n{\"stage\": $STAGE}\nEND\n"
      "cat > raw.json <<'END'\n{\"stage\": $STAGE}\nEND\n"
      "cat <<-END > tabs.json\n\tx\n\tEND\nsed \"s/ZERO_STAGE/$STAGE/g\" in > out\n"
      "run --deepspeed_config $F\n",
      "s.sh");
  const std::map<std::string, std::string> expected = {{"ds.json", "{\"stage\": 1}\n"},
                                                       {"raw.json", "{\"stage\": $STAGE}\n"},
                                                       {"tabs.json", "\tx\n"}};
  EXPECT_EQ(found.documents, expected);
  EXPECT_EQ(found.replaced, (std::map<std::string, std::string>{{"ZERO_STAGE", "1"}}));
  EXPECT_EQ(to_json(found.flags.root, 0), R"({"--deepspeed_config":"ds.json"})");
}

TEST(Shell, LinesForSlurmAreFlagsAndTellTheScript) {
  const std::string script =
      "#!/bin/bash\n#SBATCH -N 4   # nodes\n#SBATCH --gres=gpu:h100:8\n#SBATCH --exclusive\n"
      "run --nnodes $SLURM_NNODES --world $((SLURM_JOB_NUM_NODES * SLURM_GPUS_ON_NODE)) --nodes "
      "2\n";
  EXPECT_EQ(flags(script),
            R"({"--nnodes":"4","--world":"32","--nodes":"2","--gres":"gpu:h100:8",)"
            R"("--exclusive":true})");
  const ArgumentText found = parse_arguments(script, "s.sh");
  EXPECT_EQ(found.flags.where(found.flags.root.find("--gres")->origin), "s.sh:3:16");
}

TEST(Shell, WhatIsNotClosedIsRefusedWithItsPlace) {
  struct Refused {
    std::string_view script;
    std::string_view line;
  };
  const std::array<Refused, 8> cases = {
      {{"run --a 1\nb 'c", "s.sh:2:3: this quote is not closed"},
       {"A=\"b\nrun --a 1", "s.sh:1:3: this quote is not closed"},
       {"run `date", "s.sh:1:5: this quote is not closed"},
       {"run ${A", "s.sh:1:5: this bracket is not closed"},
       {"run $(A", "s.sh:1:5: this bracket is not closed"},
       {"x\nA=( b", "s.sh:2:3: this parenthesis is not closed"},
       {"cat <<END\ntext\n", "s.sh:1:7: this document is not ended by a line of END"},
       {"A=aaaa\nwhile true; do A=$A$A; done", "s.sh:1:3: comes to more than 1 MiB"}}};
  for (const Refused& c : cases) {
    EXPECT_TRUE(refusal(std::string(c.script)).starts_with(c.line))
        << c.script << "\n got: " << refusal(std::string(c.script));
  }
  const std::string large = "A=" + std::string(500'000, 'a') + "\n";
  EXPECT_EQ(refusal(large + "run $A$A$A$A"),
            "s.sh:1:3: comes to more than 1 MiB; expected a configuration");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "f() ";
  }
  EXPECT_TRUE(refusal(deep).ends_with("nested deeper than 100 levels")) << refusal(deep);
  EXPECT_TRUE(refusal("f() { f; f; }\nf").find("more than 100000 steps") != std::string::npos);
}

TEST(Shell, NothingIsRunOrReadFromTheEnvironment) {
  ASSERT_EQ(setenv("TITER_TEST_OF_SHELL", "8", 1), 0);
  EXPECT_EQ(flags("run --a $TITER_TEST_OF_SHELL --b $(echo 3) --c `echo 4`"),
            R"_({"--a":"${TITER_TEST_OF_SHELL}","--b":"$(echo 3)","--c":"`echo 4`"})_");
  EXPECT_EQ(flags("run --a $TITER_TEST_OF_SHELL", {{"TITER_TEST_OF_SHELL", "2"}}),
            R"({"--a":"2"})");
  ASSERT_EQ(unsetenv("TITER_TEST_OF_SHELL"), 0);
}

TEST(Shell, SourcedFilesAreGoneThroughWhereTheyAreAtHand) {
  const auto find = [](std::string_view called) -> std::optional<SourcedFile> {
    if (called == "$(pwd)/sizes.sh") {
      return SourcedFile{.name = "sizes.sh", .text = "L=$((2 * N))\nreturn\nL=7\n"};
    }
    return std::nullopt;
  };
  const ArgumentText found = parse_arguments(
      "N=6\n. $(pwd)/sizes.sh\nsource other.sh\nrun.py --layers $L", "s.sh", {}, find);
  EXPECT_EQ(to_json(found.flags.root, 0), R"({"--layers":"12"})");
  EXPECT_EQ(found.flags.sources, (Lines{"s.sh", "sizes.sh"}));
  EXPECT_EQ(found.sourced, Lines{"other.sh"});
  EXPECT_EQ(found.assumed,
            (Lines{"s.sh:2:3: is gone through as sizes.sh",
                   "s.sh:3:8: other.sh: is not read, and sets nothing"}));
}

TEST(Shell, AScriptThatIsStartedSeesItsArgumentsAndWhatIsExported) {
  const auto find = [](std::string_view called) -> std::optional<SourcedFile> {
    if (called != "./train.sh") {
      return std::nullopt;
    }
    return SourcedFile{.name = "train.sh",
                       .text =
                           "export N=1\nrun.py --layers ${L:-1} --hidden ${H:-64} --tp "
                           "${T:-1} --all ${A:-1} \"$@\"\nexit\n"};
  };
  const auto read = [&](const std::string& script) {
    const ArgumentText found = parse_arguments(script, "s.sh", {}, find);
    return to_json(found.flags.root, 0);
  };
  EXPECT_EQ(read("export L=6\nH=128\nT=2 bash -x ./train.sh --bf16 --seq 8\n"),
            R"({"--layers":"6","--hidden":"64","--tp":"2","--all":"1","--bf16":true,"--seq":"8"})");
  EXPECT_EQ(read("set -ea\nH=128\nset +a\nA=3\nexec ./train.sh\nrun.py --a --b --c --d --e --f"),
            R"({"--layers":"1","--hidden":"128","--tp":"1","--all":"1"})");
  EXPECT_EQ(read("srun --nodes=4 ./train.sh --x 1\n"),
            R"({"--nodes":"4","--layers":"1","--hidden":"64","--tp":"1","--all":"1","--x":"1"})");
  EXPECT_EQ(read("sbatch --export=ALL,L=3,A=5 ./train.sh\n"),
            R"({"--export":"ALL,L=3,A=5","--layers":"3","--hidden":"64","--tp":"1","--all":"5"})");
  EXPECT_EQ(
      read(
          "srun bash -c 'docker exec -e L=2 -e T=4 box bash -c \"cd /work; A=7 bash ./train.sh\"'"),
      R"({"--layers":"2","--hidden":"64","--tp":"4","--all":"7"})");
  // What it sets is gone when it has ended, and the script goes on.
  EXPECT_EQ(read("N=8\n./train.sh\nrun.py --n $N --a --b --c --d --e --f\n"),
            R"({"--n":"8","--a":true,"--b":true,"--c":true,"--d":true,"--e":true,"--f":true})");
}

TEST(Shell, AScriptThatIsNotAtHandIsNamed) {
  const auto find = [](std::string_view called) -> std::optional<SourcedFile> {
    return called == "odd.sh" ? std::optional(SourcedFile{.name = "odd.sh", .text = "echo 'a"})
                              : std::nullopt;
  };
  const ArgumentText found =
      parse_arguments("bash odd.sh\nexec other.sh 70b\nrm third.sh.log\n", "s.sh", {}, find);
  EXPECT_EQ(found.started, (Lines{"odd.sh", "other.sh"}));
}

TEST(Shell, ARunGoesAnotherWayThanToTheEndOfTheScript) {
  EXPECT_EQ(flags("if docker ps; then B=docker; elif podman ps; then B=podman; else exit 1; fi\n"
                  "run --box $B"),
            R"({"--box":"docker"})");
  EXPECT_EQ(flags("if docker ps; then B=docker; else B=none; fi\nrun --box $B"),
            R"({"--box":"none"})");
}

TEST(Shell, SetGivesTheScriptItsArguments) {
  EXPECT_EQ(flags("set -- 4 8\nrun --tp $1 --pp $2 --n $#"),
            R"({"--tp":"4","--pp":"8","--n":"2"})");
}

TEST(Shell, AFileThatSourcesItselfEnds) {
  const auto find = [](std::string_view) -> std::optional<SourcedFile> {
    return SourcedFile{.name = "again.sh", .text = ". again.sh\nN=$((N + 1))\n"};
  };
  const ArgumentText found = parse_arguments("N=0\n. a.sh\nrun.py --n $N", "s.sh", {}, find);
  EXPECT_EQ(to_json(found.flags.root, 0), R"({"--n":"30"})");  // as deep as calls go
}

TEST(Shell, AMistakeInASourcedFileIsPlacedThere) {
  const auto find = [](std::string_view) -> std::optional<SourcedFile> {
    return SourcedFile{.name = "conf.sh", .text = "A=1\nB=\"open"};
  };
  try {
    static_cast<void>(parse_arguments(". conf.sh\nrun.py --a $A", "s.sh", {}, find));
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.front().substr(0, 11), "conf.sh:2:3");
  }
}

TEST(Shell, CommandsThatAShellIsGivenThroughAPipeAreRead) {
  expect(std::array<Case, 5>{{
      {"C=\"run.py --a 1\"; echo \"$C\" | bash", R"({"--a":"1"})"},
      {"N=4\ncat <<END | sbatch\n#!/bin/bash\nsrun run.py --nodes $N\nEND\n", R"({"--nodes":"4"})"},
      {"sbatch <<END\nsrun run.py --a \\$X\nEND\n", R"({"--a":"${X}"})"},
      {"printf 'run.py --b 2' | sh -x", R"({"--b":"2"})"},
      // What is printed into anything else is not run.
      {"echo 'run.py --b 2' | tee log; go.py --c 3", R"({"--c":"3"})"},
  }});
}

TEST(Shell, WhatTrainsGoesBeforeWhatConverts) {
  expect(std::array<Case, 2>{{
      {"if [ \"$1\" = convert ]; then\n  run tools/convert_weights.py --from a --to b --size 1\n"
       "else\n  run train.py --layers 2\nfi",
       R"({"--layers":"2"})"},
      {"run tools/convert_weights.py --from a", R"({"--from":"a"})"},
  }});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer

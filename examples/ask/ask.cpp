// Asks Titer from a program of one's own: which micro-batch is fastest, of those that fit?
//
//   ask [RUN]     a run file, or the name of a shipped run

#include <cstdio>
#include <exception>
#include <string>

#include "titer/ask/run.hpp"

int main(int count, char** words) {
  try {
    const std::string run = count > 1 ? words[1] : "llama3-70b-64xh100";
    for (const int size : {1, 2, 4}) {
      const titer::Answer answer = titer::ask(titer::RunRequest{
          .scenario = {.what = run,
                       .changes = {{.path = "plan.micro_batch", .value = size, .source = "ask"}}}});
      const titer::Value json = answer.view.as_json();
      std::printf("micro-batch %d: %.3f s%s\n",
                  size,
                  json.at("iteration_time_s")->number,
                  answer.good ? "" : ", does not fit in memory");
    }
    return 0;
  } catch (const titer::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

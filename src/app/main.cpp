// titer: the command line. Exit codes: 0 success, 1 the answer is no, 2 the user's input, 3 a
// defect of the program, 130 interrupted so that it can be gone on with.

#include <cstdio>
#include <new>
#include <system_error>

#include "program.hpp"

namespace titer {
namespace {

int main_with_errors(int argc, const char* const* argv) {
  try {
    return Program().run(argc, argv);
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    return kUserError;
  }
}

}  // namespace
}  // namespace titer

int main(int argc, char** argv) {
  try {
    return titer::main_with_errors(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(
        "titer: this machine's memory, or the limit on it, is too small for what was asked\n",
        stderr);
    return titer::kUserError;
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "titer: the system refuses a thread or a file: %s\n", error.what());
    return titer::kUserError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "titer: a defect of the program, please report it: %s\n", error.what());
    return titer::kDefect;
  }
}

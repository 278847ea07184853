#include "silent_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "titer/input/input_error.hpp"

namespace titer {

SilentOutput::SilentOutput() : before_(dup(STDOUT_FILENO)) {
  std::fflush(stdout);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const bool is_silent = before_ >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
  if (nowhere >= 0) {
    close(nowhere);
  }
  if (!is_silent) {
    if (before_ >= 0) {
      close(before_);
    }
    throw InputError("/dev/null: cannot be written");
  }
}

SilentOutput::~SilentOutput() {
  std::fflush(stdout);
  dup2(before_, STDOUT_FILENO);
  close(before_);
}

}  // namespace titer

#include "paths.hpp"

namespace titer::testing {

std::filesystem::path root() { return TITER_ROOT; }
std::string program() { return TITER_PROGRAM; }
std::string faulty_program() { return TITER_FAULTY; }

}  // namespace titer::testing

#pragma once
// Where things are that tests read and start. Told to one file alone (paths.cpp), so that a
// checkout elsewhere compiles all other tests by the same commands.

#include <filesystem>
#include <string>

namespace titer::testing {

/// The root of the checkout.
[[nodiscard]] std::filesystem::path root();
/// The program, and the same program with a defect planted in it.
[[nodiscard]] std::string program();
[[nodiscard]] std::string faulty_program();

}  // namespace titer::testing

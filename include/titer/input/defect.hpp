#pragma once
// Defects met in the middle of something larger that can go on without the part they are in.

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "titer/input/reader.hpp"

namespace titer {

/// What an answer says of one.
[[nodiscard]] inline std::string defect_words(const std::string& defect) {
  return "a defect of the program, please report it: " + defect;
}

/// What a defect of the program says that `work` meets; nothing where it meets none. The user's
/// mistakes go on to the caller, and so does what the machine lacks, memory and threads: all else
/// would lack them, too.
template <class Work>
[[nodiscard]] std::optional<std::string> defect_met(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (const std::exception& defect) {
    return defect.what();
  }
}

}  // namespace titer

#pragma once
// The shipped data with every chip's plateaus of products and attention halved.

#include <cstdlib>
#include <filesystem>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/input/document.hpp"
#include "titer/input/file.hpp"

namespace titer::testing {

class HalvedPlateaus {
 public:
  HalvedPlateaus() {
    namespace fs = std::filesystem;
    const fs::path root = testing::root().string();
    for (const std::string name : {"models", "topologies"}) {
      fs::create_directory_symlink(root / name, folder_.path() / name);
    }
    fs::create_directories(folder_.path() / "configs/chips");
    for (const auto& entry : fs::directory_iterator(root / "configs")) {
      if (entry.path().filename() != "chips") {
        fs::create_symlink(entry.path(), folder_.path() / "configs" / entry.path().filename());
      }
    }
    for (const auto& entry : fs::directory_iterator(root / "configs/chips")) {
      Document chip = load_json(entry.path());
      halve(chip.root);
      static_cast<void>(
          folder_.file("configs/chips/" + entry.path().filename().string(), to_json(chip.root)));
    }
  }

  /// While it lives, data is read from there.
  class Chosen {
   public:
    explicit Chosen(const HalvedPlateaus& data) {
      setenv("TITER_DATA", data.folder_.path().c_str(), 1);
    }
    Chosen(const Chosen&) = delete;
    Chosen& operator=(const Chosen&) = delete;
    ~Chosen() { unsetenv("TITER_DATA"); }
  };

 private:
  static void halve(Value& value) {
    for (auto& [key, member] : value.members) {
      Value* number = key == "plateau" ? member.find("value") : nullptr;
      if (number != nullptr && number->kind == Value::Kind::number) {
        number->number /= 2;
      } else {
        halve(member);
      }
    }
  }

  TemporaryFolder folder_;
};

}  // namespace titer::testing

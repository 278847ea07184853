// How far a long command is, on a terminal.

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A terminal that nobody sees: what is written to it.
class Terminal {
 public:
  Terminal() : own_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(own_), 0);
    EXPECT_EQ(unlockpt(own_), 0);
    name_ = ptsname(own_);
    other_ = open(name_.c_str(), O_RDWR | O_NOCTTY);
    reader_ = std::thread([this] {
      std::array<char, 4096> piece{};
      for (ssize_t size = 0; (size = read(own_, piece.data(), piece.size())) > 0;) {
        text_.append(piece.data(), static_cast<std::size_t>(size));
      }
    });
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { close(own_); }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Once: all of it.
  [[nodiscard]] const std::string& text() {
    close(other_);  // the last that has it open: then the reader's end comes
    reader_.join();
    return text_;
  }

 private:
  int own_;
  int other_ = -1;
  std::string name_;
  std::string text_;
  std::thread reader_;
};

std::string on_terminal(const std::vector<std::string>& arguments) {
  Terminal terminal;
  EXPECT_LE(titer(arguments, {.terminal = terminal.name()}).code, 1);
  return terminal.text();
}

TEST(Progress, IsShownOnATerminalAndWipedBeforeTheAnswer) {
  const std::vector<std::string> long_one = {"capacity", "llama3-405b", "--search", "--jobs=1"};
  const std::string shown = on_terminal(long_one);
  EXPECT_TRUE(contains(shown, " of 3 numbers of devices, ")) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
  EXPECT_EQ(titer(long_one).err, "") << "no terminal";
}

TEST(Progress, SaysHowLongItHasBeenWhereNothingIsCounted) {
  const std::string shown = on_terminal({"collective",
                                         "--cluster=dgx-h100",
                                         "--op=all_to_all",
                                         "--bytes=1MiB",
                                         "--ranks=0-1279",
                                         "--fidelity=flow"});
  EXPECT_TRUE(contains(shown, "1 s so far")) << shown;
}

TEST(Progress, IsNoWordOfAShortCommand) {
  EXPECT_EQ(on_terminal({"run", "llama3-70b-64xh100"}), "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing

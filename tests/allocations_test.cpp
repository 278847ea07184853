// The replaced global allocation functions ([replacement.functions] of the C++ standard), on top of
// malloc and free so that sanitizers still see every block, and a test of the counter itself.
#include "allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<std::size_t>& counter() {
  static constinit std::atomic<std::size_t> count{0};  // usable before main
  return count;
}

void* take(std::size_t size) noexcept {
  counter().fetch_add(1, std::memory_order_relaxed);
  return std::malloc(std::max<std::size_t>(size, 1));
}

void* take(std::size_t size, std::align_val_t alignment) noexcept {
  counter().fetch_add(1, std::memory_order_relaxed);
  const auto step = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  void* block = nullptr;
  return posix_memalign(&block, step, std::max<std::size_t>(size, 1)) == 0 ? block : nullptr;
}

// Not inlined: next to a call of operator new, g++ takes the bare free() for a mistake.
[[gnu::noinline]] void give(void* block) noexcept { std::free(block); }

void* or_throw(void* block) {
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

}  // namespace

namespace titer::testing {

std::size_t allocations() { return counter().load(std::memory_order_relaxed); }

}  // namespace titer::testing

void* operator new(std::size_t size) { return or_throw(take(size)); }
void* operator new[](std::size_t size) { return or_throw(take(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(take(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(take(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(size, alignment);
}

void operator delete(void* block) noexcept { give(block); }
void operator delete[](void* block) noexcept { give(block); }
void operator delete(void* block, std::size_t) noexcept { give(block); }
void operator delete[](void* block, std::size_t) noexcept { give(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { give(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { give(block); }
void operator delete(void* block, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { give(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  give(block);
}

namespace {

using titer::testing::allocations;

// Direct calls: a compiler may leave out a new-expression whose block it does not need.
TEST(Allocations, CountEveryFormOfOperatorNewOnce) {
  constexpr std::align_val_t line{64};
  const std::size_t before = allocations();
  void* one = ::operator new(8);
  void* many = ::operator new[](8);
  void* quiet = ::operator new(8, std::nothrow);
  void* many_quiet = ::operator new[](8, std::nothrow);
  void* aligned = ::operator new(8, line);
  void* many_aligned = ::operator new[](8, line);
  void* aligned_quiet = ::operator new(8, line, std::nothrow);
  void* many_aligned_quiet = ::operator new[](8, line, std::nothrow);
  const std::size_t after = allocations();
  EXPECT_EQ(after - before, 8u);
  for (void* block : {aligned, many_aligned, aligned_quiet, many_aligned_quiet}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % static_cast<std::size_t>(line), 0u);
  }
  ::operator delete(one);
  ::operator delete[](many);
  ::operator delete(quiet, std::nothrow);
  ::operator delete[](many_quiet, std::nothrow);
  ::operator delete(aligned, line);
  ::operator delete[](many_aligned, line);
  ::operator delete(aligned_quiet, line, std::nothrow);
  ::operator delete[](many_aligned_quiet, line, std::nothrow);
}

TEST(Allocations, SeeWhatContainersTake) {
  std::vector<int> numbers;
  const std::size_t before = allocations();
  numbers.reserve(1000);
  const std::size_t reserved = allocations();
  numbers.resize(1000);
  const std::size_t filled = allocations();
  EXPECT_EQ(reserved - before, 1u);
  EXPECT_EQ(filled - reserved, 0u);
}

TEST(Allocations, GiveBlocksOfNoSizeAnAddress) {
  void* block = ::operator new(0);
  EXPECT_NE(block, nullptr);
  ::operator delete(block);
}

}  // namespace

// Plans of a search in words, and why it has none.

#include <fmt/format.h>

#include <algorithm>

#include "search_figures.hpp"
#include "titer/report/study/search_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {

std::string grouped_count(std::size_t count) {
  return grouped_digits(static_cast<std::int64_t>(count));
}

std::string plan_words(const Plan& plan) {
  std::string text = fmt::format("data {}", plan.data);
  for (const SearchKey& key : search_keys()) {
    const Value value = key.value(plan);
    if (value.kind != Value::Kind::null) {
      text += fmt::format(", {} {}", key.name, shown(value));
    }
  }
  return text;
}

std::string no_plan_sentence(const Search& search, const SearchAnswer& answer) {
  std::vector<SearchCountName> counts(kSearchCounts.begin(), kSearchCounts.end());
  std::ranges::stable_sort(counts, [&](const SearchCountName& a, const SearchCountName& b) {
    return answer.counts.*a.value > answer.counts.*b.value;
  });
  std::string text;
  for (const SearchCountName& count : counts) {
    if (answer.counts.*count.value > 0) {
      add_listed(text, fmt::format("{} {}", grouped_count(answer.counts.*count.value), count.name));
    }
  }
  if (answer.counts.plans == 0) {
    const auto batch = batch_with_plans(search);
    return (answer.counts.beyond > 0
                ? "no plan is left: the software can run none of them (--any-software)"
                : "no plan is there: no degrees share out the devices, layers, heads and batch") +
           (batch ? fmt::format("; batch {} would do (--batch {})", *batch, *batch) : "");
  }
  return fmt::format("no plan is left of {}{}",
                     grouped_count(answer.counts.plans),
                     text.empty() ? "" : ": " + text) +
         (answer.counts.refusal.empty() ? "" : "; not sound, for one: " + answer.counts.refusal);
}

std::string least_memory_sentence(const Search& search, const FoundPlan& least) {
  const StepResult& step = least.result;
  const Bytes most = (1 - search.limits.memory_margin) * step.memory_capacity;
  return fmt::format(
      "the least that any of them needs is {} of a device, {} over the {} of it {}: {}",
      format(step.memory_peak),
      format(step.memory_peak - most),
      format(most),
      search.limits.memory_margin > 0 ? "that are not kept free" : "there are",
      plan_words(least.plan));
}

}  // namespace titer

#include "titer/search/search.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>
#include <tuple>

#include "search_worker.hpp"

namespace titer {
namespace {

constexpr std::size_t kFirstBatch = 4;
constexpr std::size_t kMostInBatch = 64;

/// Calls `work` (worker, item) for every item, on as many threads as there are workers; each takes
/// a run of items at a time.
void share_work(std::size_t workers,
                std::size_t items,
                std::size_t run_length,
                const std::function<void(std::size_t, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(workers);
  const auto run = [&](std::size_t worker) {
    try {
      for (std::size_t i = next.fetch_add(run_length); i < items; i = next.fetch_add(run_length)) {
        for (std::size_t item = i; item < std::min(i + run_length, items); ++item) {
          work(worker, item);
        }
      }
    } catch (...) {
      failures[worker] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 1; w < std::min(workers, items); ++w) {
      threads.emplace_back(run, w);
    }
    run(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

/// The search of one scenario over some numbers of devices.
///
/// Groups of layers are taken best bound first, in batches. What a batch excludes follows from what
/// all batches before found and from the group itself, never from what another thread has found
/// meanwhile: so not only the answer but every count is the same for any number of threads.
class TreeSearch {
 public:
  TreeSearch(const Search& search,
             const std::vector<std::int64_t>& devices,
             const SearchOptions& options)
      : options_(options),
        tree_(search.scenario, search.space, devices, search.abilities),
        best_(search.objectives.size(), search.top, search.best_of),
        workers_(std::max(1U, options.threads),
                 SearchWorker(search,
                              tree_,
                              options,
                              options.known_work != nullptr ? *options.known_work : known_)) {
    if (options.counts_beyond) {
      const PlanTree of_any(search.scenario, search.space, devices);
      answer_.counts.beyond = of_any.plans() - tree_.plans();
    }
  }

  SearchAnswer run() {
    find_groups();
    sort_groups();
    std::size_t batch = kFirstBatch;
    for (std::size_t i = 0; i < order_.size() && !stopped();) {
      const std::size_t count = std::min(batch, order_.size() - i);
      take_batch(i, count);
      i += count;
      batch = std::min(2 * batch, kMostInBatch);
      if (options_.progress) {
        options_.progress(answer_.counts.plans, tree_.plans());
      }
    }
    answer_.complete = !stopped();
    answer_.counts.plans = tree_.plans();
    answer_.counts.unreached = answer_.counts.plans - answer_.counts.reached();
    for (const AlikePlans& group : best_.groups()) {
      answer_.plans.push_back(workers_.front().found(group));
    }
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  [[nodiscard]] std::size_t count(const AlikeLayers& group) const;
  void find_groups();
  void sort_groups();
  void take_batch(std::size_t first, std::size_t items);

  const SearchOptions& options_;
  PlanTree tree_;
  BestPlans best_;
  KnownWork known_;  // where no other search knows anything
  std::vector<SearchWorker> workers_;
  std::vector<AlikeLayers> groups_;
  std::vector<GroupBound> bounds_;    // of the groups
  std::vector<std::uint32_t> order_;  // of those that are searched
  SearchAnswer answer_;
};

std::size_t TreeSearch::count(const AlikeLayers& group) const {
  return group.size() * tree_.count(tree_.layers()[group.front()]);
}

/// The tree has layers of a group close together.
void TreeSearch::find_groups() {
  const std::vector<LayerChoice>& layers = tree_.layers();
  const auto key = [&](std::uint32_t number) {
    const LayerChoice& layer = layers[number];
    return std::tuple(layer.layout, layer.micro_batch, layer.exchange, layer.sequence_parallel);
  };
  std::size_t first = 0;  // of the groups that the layer may be of
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    if (i > 0 && key(i) != key(i - 1)) {
      first = groups_.size();
    }
    const auto same =
        std::find_if(groups_.begin() + static_cast<std::ptrdiff_t>(first),
                     groups_.end(),
                     [&](const AlikeLayers& group) {
                       return layers[group.front()].tensor_overlap == layers[i].tensor_overlap;
                     });
    if (same == groups_.end()) {
      groups_.push_back({i});
    } else {
      same->push_back(i);
    }
  }
}

/// Those of which no plan is sound, or all are over a limit, are through.
void TreeSearch::sort_groups() {
  bounds_.resize(groups_.size());
  if (!options_.exhaustive) {
    // Neighbours have the same layout, of which two threads would wait for each other.
    const std::size_t run = std::max<std::size_t>(1, groups_.size() / (16 * workers_.size()));
    share_work(workers_.size(), groups_.size(), run, [&](std::size_t worker, std::size_t i) {
      bounds_[i] = workers_[worker].bound(groups_[i]);
    });
  }
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    const GroupBound& bound = bounds_[i];
    if (!bound.over_limit && bound.refusal.empty()) {
      order_.push_back(i);
      continue;
    }
    SearchCounts counts{.plans = count(groups_[i]), .refusal = bound.refusal};
    (bound.over_limit ? counts.over_limit : counts.refused) = counts.plans;
    answer_.counts += counts;
  }
  std::ranges::stable_sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    return bounds_[a].least < bounds_[b].least;
  });
}

void TreeSearch::take_batch(std::size_t first, std::size_t items) {
  std::vector<BestPlans> found(items, BestPlans::beside(best_));
  std::vector<SearchCounts> counts(items);
  share_work(workers_.size(), items, 1, [&](std::size_t worker, std::size_t i) {
    const std::uint32_t group = order_[first + i];
    if (!options_.exhaustive && best_.excludes(bounds_[group].least)) {
      counts[i].plans = count(groups_[group]);
      counts[i].bounded = counts[i].plans;
    } else {
      workers_[worker].search(groups_[group], bounds_[group], found[i], counts[i]);
    }
  });
  for (std::size_t i = 0; i < items; ++i) {
    answer_.counts += counts[i];
    best_.merge(found[i]);
  }
}

/// The first number of devices that has a plan.
SearchAnswer search_fewest(const Search& search, const SearchOptions& options) {
  SearchAnswer answer;
  std::vector<std::string> without;
  SearchCounts counts;
  for (const std::int64_t devices : search.devices) {
    answer = TreeSearch(search, {devices}, options).run();
    counts += answer.counts;
    if (!answer.plans.empty() || !answer.complete) {
      break;
    }
    without.push_back(std::to_string(devices) + " devices");
  }
  answer.counts = counts;
  answer.without_plan = std::move(without);
  return answer;
}

SearchAnswer search_devices(const Search& search, const SearchOptions& options) {
  return search.fewest_devices ? search_fewest(search, options)
                               : TreeSearch(search, search.devices, options).run();
}

}  // namespace

SearchCounts& SearchCounts::operator+=(const SearchCounts& other) {
  plans += other.plans;
  refused += other.refused;
  refusal = refusal.empty() ? other.refusal : refusal;
  over_memory += other.over_memory;
  over_limit += other.over_limit;
  bounded += other.bounded;
  evaluated += other.evaluated;
  defects += other.defects;
  defect = defect.empty() ? other.defect : defect;
  unreached += other.unreached;
  beyond += other.beyond;
  return *this;
}

/// Of several models the largest that has a plan: from the largest down.
SearchAnswer run_search(const Search& search, const SearchOptions& options) {
  if (search.models.empty()) {
    return search_devices(search, options);
  }
  SearchAnswer answer;
  std::vector<std::string> without;
  SearchCounts counts;
  for (const Search& of_model : search.models) {
    answer = search_devices(of_model, options);
    counts += answer.counts;
    answer.model = of_model.title;
    if (!answer.plans.empty() || !answer.complete) {
      break;
    }
    without.push_back(of_model.title);
  }
  answer.counts = counts;
  answer.without_plan = std::move(without);
  return answer;
}

}  // namespace titer

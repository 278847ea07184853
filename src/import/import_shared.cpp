#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "import_parts.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

using List = std::optional<std::vector<bool>>;

List list_in(std::string_view text, int depth);

/// "(…)" or "[1,0]".
List list_in_brackets(std::string_view text, int depth) {
  constexpr int deepest = 20;
  if (text.size() < 2 || depth > deepest) {
    return std::nullopt;
  }
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (text.front() == '(' && text.back() == ')') {
    return list_in(inside, depth + 1);
  }
  if (text.front() != '[' || text.back() != ']') {
    return std::nullopt;
  }
  std::vector<bool> list;
  for (const std::string_view item : parts_of(inside, ',')) {
    const auto number = number_of_text<std::int64_t>(item);
    if (!number) {
      return std::nullopt;
    }
    list.push_back(*number != 0);
  }
  return list;
}

/// A list of numbers as Python writes it: "[0]*3+[1]*58", "([1,1,0]*16)".
List list_in(std::string_view text, int depth) {
  constexpr std::size_t most{kMostLayers};
  std::vector<bool> list;
  for (const std::string_view part : parts_of(text, '+')) {
    const std::vector<std::string_view> factors = parts_of(part, '*');
    const List once = factors.empty() ? std::nullopt : list_in_brackets(factors.front(), depth);
    std::int64_t times = 1;
    for (std::size_t i = 1; i < factors.size(); ++i) {
      const auto factor = number_of_text<std::int64_t>(factors[i]);
      if (!factor || *factor < 0 || *factor > kMostLayers || times > kMostLayers) {
        return std::nullopt;
      }
      times *= *factor;
    }
    if (!once || times > kMostLayers ||
        list.size() + once->size() * static_cast<std::size_t>(times) > most) {
      return std::nullopt;
    }
    for (std::int64_t i = 0; i < times; ++i) {
      list.insert(list.end(), once->begin(), once->end());
    }
  }
  return list.empty() ? std::nullopt : List(list);
}

}  // namespace

void assume(const ImportTask& task, std::string_view key, std::string_view what) {
  task.into.assumed.push_back(task.in.shown(key) + ": " + std::string(what));
}

void add_outcome(const Settings& in, ImportedRun& into) {
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(into.used, in.used());
  append(into.harmless, in.harmless());
  append(into.unread, in.unread());
  append(into.open, in.open());
}

void stand_in(const ImportTask& task, std::string_view stack, std::string_view software) {
  task.into.stack = std::string(stack);
  task.into.assumed.push_back(task.file + ": the stack " + std::string(stack) + " stands for " +
                              std::string(software) + ", of which no figures are known");
}

void put_degree(const ImportTask& task,
                std::string_view name,
                std::string_view key,
                std::optional<std::int64_t> degree) {
  if (degree) {
    task.into.plan.add(std::string(name), Value(*degree));
  } else if (task.in.has(key)) {
    task.into.plan.add(std::string(name), Value(kLeftOpen));
  }
}

void take_only(const ImportTask& task,
               std::string_view key,
               std::initializer_list<std::string_view> values) {
  const auto word = task.in.word(key);
  if (word && !includes(values, *word)) {
    task.in.leave_out(key,
                      "taken as " + std::string(*values.begin()) + ", which alone is modelled");
  }
}

std::int64_t read_vocabulary(const ImportTask& task,
                             std::string_view key,
                             std::string_view tokenizer) {
  constexpr std::int64_t most = 1'000'000'000;
  if (task.options.vocabulary) {
    return *task.options.vocabulary;
  }
  if (const auto rows = task.in.integer(key, 1, most)) {
    return *rows;
  }
  if (const auto known = known_tokenizer(tokenizer)) {
    std::string what = "taken as " + std::to_string(known->rows) + ", for the tokenizer ";
    what.append(known->part);
    if (!known->others.empty()) {
      what.append("; ").append(known->others).append(": --vocabulary ROWS tells it");
    }
    assume(task, key, what);
    return known->rows;
  }
  if (task.options.base) {
    return task.options.base->vocabulary;
  }
  // For a tokenizer that nobody names, and for one that is not known: a table is less than a
  // hundredth of a large model.
  const KnownTokenizer usual =
      tokenizer.empty() ? KnownTokenizer{"GPT-2", 50257} : KnownTokenizer{"Llama 3", 128256};
  assume(task,
         key,
         "taken as " + std::to_string(usual.rows) + ", as " + usual.part +
             " has it, for want of a tokenizer that is known; --vocabulary ROWS tells it");
  return usual.rows;
}

std::vector<bool> read_layer_choice(const ImportTask& task,
                                    std::string_view key,
                                    std::int64_t layers) {
  const std::optional<std::string> text = task.in.text(key);
  if (!text) {
    return {};
  }
  if (const auto every = number_of_text<std::int64_t>(*text); every && *every > 0) {
    std::vector<bool> list;
    for (std::int64_t i = 0; i < layers; ++i) {
      list.push_back(i % *every == 0);
    }
    return list;
  }
  std::string bare = *text;
  std::erase_if(bare, [](char c) { return c == '"' || c == '\''; });
  const List found = list_in(bare, 0);
  if (!found || found->size() != static_cast<std::size_t>(layers)) {
    task.in.fail(key,
                 found ? "expected as many numbers as there are layers, " + std::to_string(layers) +
                             ", not " + std::to_string(found->size())
                       : "expected a number, or a list such as ([0]*3+[1]*58)");
    return {};
  }
  return *found;
}

namespace {

/// Parts of other programs' names, and what an optimizer is with them here; the first that fits.
/// None: it is not here.
struct OptimizerName {
  std::string_view part;
  std::string_view name;
  std::string_view in_bytes;  // with moments of 8 bits
};
constexpr std::array<OptimizerName, 16> kOptimizerNames = {{{"onebit", "", ""},
                                                            {"1bit", "", ""},
                                                            {"zero_one", "", ""},
                                                            {"zeroone", "", ""},
                                                            {"4bit", "", ""},
                                                            {"fp8", "", ""},
                                                            {"galore", "", ""},
                                                            {"apollo", "", ""},
                                                            {"adafactor", "adafactor", ""},
                                                            {"lion", "lion", "lion-8bit"},
                                                            {"muon", "muon", ""},
                                                            {"lamb", "lamb", ""},
                                                            {"adam", "adam", "adam-8bit"},
                                                            {"mcore_distributed_optim", "adam", ""},
                                                            {"sgd", "sgd", ""},
                                                            {"", "", ""}}};

}  // namespace

void put_optimizer(const ImportTask& task, std::string_view key) {
  const std::optional<std::string> name = task.in.word(key);
  if (!name) {
    return;
  }
  const auto has = [&](std::string_view part) { return name->find(part) != std::string::npos; };
  const auto known = std::find_if(
      kOptimizerNames.begin(), kOptimizerNames.end() - 1, [&](const OptimizerName& candidate) {
        return has(candidate.part);
      });
  const std::string_view own = has("8bit") ? known->in_bytes : known->name;
  if (own.empty()) {
    task.in.fail(key,
                 "expected an optimizer that is known here: adam, adamw, sgd, adafactor, lamb, "
                 "lion, muon; adam and lion of 8 bits");
    return;
  }
  task.into.training.add("optimizer", Value(own));
}

void check_degrees(const ImportTask& task, Degrees& degrees, const DegreeKeys& keys) {
  if (!degrees.devices || !degrees.tensor || !degrees.pipeline || !degrees.context) {
    return;
  }
  const std::int64_t others = *degrees.tensor * *degrees.pipeline * *degrees.context;
  if (*degrees.devices % others != 0) {
    task.in.fail(task.in.has(keys.devices) ? keys.devices : keys.tensor,
                 "expected the " + std::to_string(*degrees.devices) +
                     " devices to be a multiple of tensor x pipeline x context degree, " +
                     std::to_string(others));
    return;
  }
  const std::int64_t left = *degrees.devices / others;
  if (degrees.data && *degrees.data != left) {
    task.in.fail(keys.devices,
                 "expected the data-parallel degree to be " + std::to_string(left) + ", not " +
                     std::to_string(*degrees.data));
  }
  degrees.data = left;
  const std::int64_t apart = degrees.expert.value_or(1) *
                             degrees.expert_tensor.value_or(*degrees.tensor) * *degrees.pipeline;
  if (*degrees.devices % apart != 0) {
    task.in.fail(keys.expert,
                 "expected expert x expert tensor x pipeline degree, " + std::to_string(apart) +
                     ", to divide the " + std::to_string(*degrees.devices) + " devices");
  }
}

Degrees read_degrees(const ImportTask& task, const DegreeKeys& keys) {
  const auto degree = [&](std::string_view key) {
    return std::optional(task.in.integer(key, 1, kMostDegree).value_or(1));
  };
  Degrees degrees;
  degrees.tensor = degree(keys.tensor);
  degrees.pipeline = degree(keys.pipeline);
  degrees.context = degree(keys.context);
  if (!keys.expert.empty()) {
    degrees.expert = degree(keys.expert);
  }
  degrees.devices = launched_devices(task);
  return degrees;
}

void put_degrees(Value& plan, const Degrees& degrees) {
  put(plan, "pipeline", degrees.pipeline);
  put(plan, "tensor", degrees.tensor);
  put(plan, "context", degrees.context);
  put(plan, "data", degrees.data);
}

std::optional<std::int64_t> ranks_beside(const ImportTask& task,
                                         std::string_view key,
                                         std::optional<std::int64_t> devices,
                                         std::int64_t others) {
  if (devices && *devices % others != 0) {
    task.in.fail(key, "expected a divisor of the " + std::to_string(*devices) + " devices");
  }
  return devices ? std::optional(std::max<std::int64_t>(1, *devices / others)) : std::nullopt;
}

std::optional<std::int64_t> share_of_batch(const ImportTask& task,
                                           std::string_view key,
                                           std::optional<std::int64_t> all,
                                           std::optional<std::int64_t> data) {
  if (!all || !data) {
    return std::nullopt;
  }
  if (*all % *data != 0) {
    task.in.fail(key,
                 "expected a multiple of the " + std::to_string(*data) + " data-parallel ranks");
    return 1;
  }
  return *all / *data;
}

std::string_view precision_of(std::string_view told) {
  constexpr std::array<ForeignWord, 4> parts = {
      {{"fp8", "fp8"}, {"bf", "bf16"}, {"16", "fp16"}, {"half", "fp16"}}};
  const auto* const found = std::ranges::find_if(parts, [&](const ForeignWord& part) {
    return told.find(part.theirs) != std::string_view::npos;
  });
  return found == parts.end() ? "fp32" : found->ours;
}

void put_batches(const ImportTask& task, const Degrees& degrees, const DegreeKeys& keys) {
  const auto micro = task.in.integer(keys.micro_batch, 1);
  const auto global = task.in.integer(keys.global_batch, 1);
  put_degree(task, "micro_batch", keys.micro_batch, micro);
  if (!micro || !degrees.data) {
    put(task.into.training, "global_batch", global);
    return;
  }
  const std::int64_t together = *micro * *degrees.data;
  if (global && *global % together != 0) {
    task.in.fail(keys.global_batch,
                 "expected a multiple of micro-batch x data-parallel degree, " +
                     std::to_string(*micro) + " x " + std::to_string(*degrees.data));
  }
  // "gas" tells how many are added up, of which put_accumulation makes the batch.
  if (!global && !task.in.has(keys.global_batch) && !task.in.has("gas")) {
    assume(task, keys.global_batch, "taken as micro-batch x data-parallel degree");
  }
  task.into.training.add("global_batch", Value(global.value_or(together)));
}

Value state_on_host() {
  Value offload = Value::make_object();
  offload.add("weights", Value("host"))
      .add("optimizer", Value("host"))
      .add("update", Value("host"));
  return offload;
}

}  // namespace titer

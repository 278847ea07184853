// How Megatron's settings share the layers out over the stages of a pipeline.

#include <algorithm>

#include "import/import_parts.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kPipeline = "pipeline_model_parallel_size";

/// "Et*3\\|(tt\\|)*29,m\\|L" of a file whose values one more shell is to read, which takes the
/// backslashes away.
std::string plain_layout(std::string layout) {
  layout.erase(std::remove(layout.begin(), layout.end(), '\\'), layout.end());
  return layout;
}

class MegatronStages {
 public:
  MegatronStages(const ImportTask& task, std::optional<std::int64_t> pipeline)
      : task_(task), in_(task.in), plan_(task.into.plan), pipeline_(pipeline) {}

  /// How the layers are shared out over the stages, where all that it takes is known.
  void read() {
    const Told told = read_told();
    const auto layout = in_.text("pipeline_model_parallel_layout");
    const std::string partition = in_.word("pp_partition_method").value_or("");
    if (pipeline_.value_or(1) == 1) {
      return;
    }
    const bool is_folded = in_.word("schedules_method") == "dualpipev";  // of MindSpeed
    plan_.add("schedule", Value(is_folded ? "dualpipev" : "1f1b"));
    if (layout) {
      plan_.add("layers", Value(plain_layout(*layout)));
      return;
    }
    if (!partition.empty() && !partitioned(partition)) {
      return;
    }
    if (!task_.into.model) {
      put_of_shipped(told);
      return;
    }
    const std::int64_t layers = task_.into.model->layers;
    const std::int64_t stages = *pipeline_;
    const std::int64_t counted = layers + (told.ends.embedding ? 1 : 0) + (told.ends.loss ? 1 : 0);
    std::optional<std::int64_t> chunks = told.chunks;
    if (told.of_chunk && !chunks) {
      chunks = virtual_stages(counted, stages, *told.of_chunk);
    }
    if (chunks) {
      plan_.add("virtual_stages", Value(*chunks));
    }
    if (put_listed() || is_folded || task_.defaults.is_deepspeed) {
      return;  // DeepSpeed's pipelines share out any number of layers
    }
    share_out(told.ends, layers, stages, chunks.value_or(1));
  }

 private:
  struct Ends {
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> last;
    bool embedding = false;
    bool loss = false;
  };
  struct Told {
    Ends ends;
    std::optional<std::int64_t> of_chunk;  // layers of a virtual stage
    std::optional<std::int64_t> chunks;
  };

  Told read_told() {
    Told told;
    told.ends.first = in_.integer("decoder_first_pipeline_num_layers", 0, kMostLayers);
    told.ends.last = in_.integer("decoder_last_pipeline_num_layers", 0, kMostLayers);
    told.ends.embedding = in_.is_on("account_for_embedding_in_pipeline_split");
    told.ends.loss = in_.is_on("account_for_loss_in_pipeline_split");
    told.of_chunk = in_.integer("num_layers_per_virtual_pipeline_stage", 1, kMostLayers);
    told.chunks = in_.integer("num_virtual_stages_per_pipeline_rank", 1, kMostLayers);
    if (!told.chunks) {
      told.chunks = in_.integer("virtual_pipeline_model_parallel_size", 1, kMostLayers);
    }
    return told;
  }

  /// Of a model that only the run knows: what needs no number of its layers.
  void put_of_shipped(const Told& told) {
    put(plan_, "virtual_stages", told.chunks);
    if (told.of_chunk && !told.chunks) {
      in_.leave_out("num_layers_per_virtual_pipeline_stage",
                    "the model's layers are not told here; plan.virtual_stages takes their stages");
    }
    if (told.ends.first || told.ends.last) {
      Value ends = Value::make_object();
      put(ends, "first", told.ends.first);
      put(ends, "last", told.ends.last);
      plan_.add("layers", std::move(ends));
    } else if (told.ends.embedding && told.ends.loss) {
      plan_.add("layers", Value("lighter-ends"));
    }
  }

  /// MindSpeed's "15,16,16,15": so many on each stage.
  [[nodiscard]] bool put_listed() {
    Value list = Value::make_array();
    for (const std::string& word : listed_words(task_, "num_layer_list")) {
      const bool is_count =
          word.size() < 7 && word.find_first_not_of("0123456789") == std::string::npos;
      if (!is_count) {
        in_.fail("num_layer_list", "expected layers of the stages, such as 7,8,8,7");
        return true;
      }
      list.push(Value(static_cast<std::int64_t>(std::stoll(word))));
    }
    const bool is_told = !list.items.empty();
    if (is_told) {
      plan_.add("layers", std::move(list));
    }
    return is_told;
  }

  /// DeepSpeed's "type:transformer|embedding" counts embedding and head as a layer each. False
  /// where nothing more is to be said.
  bool partitioned(const std::string& partition) {
    const bool has_ends = partition.find("embedding") != std::string::npos;
    if (partition.find("transformer") == std::string::npos && partition != "uniform") {
      in_.leave_out("pp_partition_method", "taken as the same number of layers on each stage");
    }
    if (has_ends) {
      plan_.add("layers", Value("lighter-ends"));
    }
    return !has_ends;
  }

  std::int64_t virtual_stages(std::int64_t layers, std::int64_t stages, std::int64_t per_chunk) {
    if (layers % (stages * per_chunk) != 0) {
      in_.fail("num_layers_per_virtual_pipeline_stage",
               "expected a divisor of the layers of a pipeline rank, " + std::to_string(layers) +
                   " / " + std::to_string(stages));
      return 1;
    }
    return layers / (stages * per_chunk);
  }

  void share_out(const Ends& ends, std::int64_t layers, std::int64_t ranks, std::int64_t chunks) {
    const std::int64_t stages = ranks * chunks;
    const bool by_rank = ends.first || ends.last;
    const std::int64_t counted = layers + (ends.embedding ? 1 : 0) + (ends.loss ? 1 : 0);
    if (stages > counted || (!by_rank && counted % stages != 0)) {
      in_.fail(kPipeline,
               "expected pipeline x virtual stages, " + std::to_string(stages) +
                   ", to divide the " + std::to_string(counted) + " layers" +
                   (counted == layers ? "" : ", counted with embedding and loss"));
      return;
    }
    if (!by_rank && counted == layers) {
      return;
    }
    const std::vector<std::int64_t> of_stages =
        by_rank ? by_ends(ends, layers, ranks, chunks) : by_weight(ends, counted, stages);
    Value list = Value::make_array();
    for (const std::int64_t count : of_stages) {
      list.push(Value(count));
    }
    plan_.add("layers", std::move(list));
  }

  /// As many on each, embedding and loss counted as a layer.
  static std::vector<std::int64_t> by_weight(const Ends& ends,
                                             std::int64_t counted,
                                             std::int64_t stages) {
    std::vector<std::int64_t> of_stages(static_cast<std::size_t>(stages), counted / stages);
    of_stages.front() -= ends.embedding ? 1 : 0;
    of_stages.back() -= ends.loss ? 1 : 0;
    return of_stages;
  }

  /// So many on the first and on the last rank, the others alike.
  std::vector<std::int64_t> by_ends(const Ends& ends,
                                    std::int64_t layers,
                                    std::int64_t ranks,
                                    std::int64_t chunks) {
    const std::int64_t between = ranks - (ends.first ? 1 : 0) - (ends.last ? 1 : 0);
    const std::int64_t rest = layers - ends.first.value_or(0) - ends.last.value_or(0);
    const bool works = between > 0 ? rest >= 0 && rest % between == 0 : rest == 0;
    std::vector<std::int64_t> of_ranks(static_cast<std::size_t>(ranks),
                                       between > 0 ? rest / between : 0);
    of_ranks.front() = ends.first.value_or(of_ranks.front());
    of_ranks.back() = ends.last.value_or(of_ranks.back());
    const bool in_chunks = std::all_of(
        of_ranks.begin(), of_ranks.end(), [&](std::int64_t count) { return count % chunks == 0; });
    if (!works || !in_chunks) {
      in_.fail(
          ends.first ? "decoder_first_pipeline_num_layers" : "decoder_last_pipeline_num_layers",
          "expected the other layers to be shared out evenly over the other ranks and their "
          "virtual stages");
    }
    std::vector<std::int64_t> of_stages;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      for (const std::int64_t count : of_ranks) {
        of_stages.push_back(count / chunks);
      }
    }
    return of_stages;
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  std::optional<std::int64_t> pipeline_;
};

}  // namespace

std::vector<std::string> listed_words(const ImportTask& task, std::string_view key) {
  if (const Value* const written = task.in.raw(key);
      written != nullptr && written->kind == Value::Kind::array) {
    return each_of(written->items, &Value::text);
  }
  // Brackets stand around lists that are one word of a shell, with quotes around names or all.
  const std::string text = task.in.word(key).value_or("");
  const std::vector<std::string_view> words = words_of(text, ", []'\"");
  return {words.begin(), words.end()};
}

void put_megatron_stages(const ImportTask& task, const Degrees& degrees) {
  MegatronStages(task, degrees.pipeline).read();
}

}  // namespace titer

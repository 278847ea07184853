#include "run_columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "cell_number.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

struct ColumnName {
  std::string_view called;  // its letters and digits
  std::string_view column;
};
constexpr std::array<ColumnName, 129> kColumnNames = {
    {{"tp", "t"},
     {"tensorparallel", "t"},
     {"tensorparallelsize", "t"},
     {"tensormodelparallelsize", "t"},
     {"tensorparallelism", "t"},
     {"pp", "p"},
     {"pipelineparallel", "p"},
     {"pipelineparallelsize", "p"},
     {"pipelinemodelparallelsize", "p"},
     {"pipelineparallelism", "p"},
     {"dp", "d"},
     {"dataparallel", "d"},
     {"dataparallelsize", "d"},
     {"dataparallelism", "d"},
     {"expertparallel", "ep"},
     {"expertparallelsize", "ep"},
     {"expertmodelparallelsize", "ep"},
     {"expertparalleltensor", "etp"},
     {"experttensorparallelsize", "etp"},
     {"contextparallel", "cp"},
     {"contextparallelsize", "cp"},
     {"vp", "vpp"},
     {"virtualpipeline", "vpp"},
     {"virtualstages", "vpp"},
     {"virtualpipelinemodelparallelsize", "vpp"},
     {"gbs", "global_batch"},
     {"globalbatchsize", "global_batch"},
     {"mbs", "micro_batch"},
     {"microbatchsize", "micro_batch"},
     {"ga", "grad_accum"},
     {"gradientaccumulation", "grad_accum"},
     {"gradientaccumulationsteps", "grad_accum"},
     {"gradaccumsteps", "grad_accum"},
     {"seqlen", "seq"},
     {"seqlength", "seq"},
     {"sequence", "seq"},
     {"sequencelength", "seq"},
     {"contextlength", "seq"},
     {"numlayers", "layers"},
     {"nlayers", "layers"},
     {"nlayer", "layers"},
     {"numhiddenlayers", "layers"},
     {"hiddensize", "hidden"},
     {"dmodel", "hidden"},
     {"hiddendim", "hidden"},
     {"numheads", "heads"},
     {"nheads", "heads"},
     {"nhead", "heads"},
     {"numattentionheads", "heads"},
     {"numkvheads", "kv_heads"},
     {"nkvheads", "kv_heads"},
     {"numkeyvalueheads", "kv_heads"},
     {"numquerygroups", "kv_heads"},
     {"ffnhiddensize", "ffn"},
     {"intermediatesize", "ffn"},
     {"dff", "ffn"},
     {"ffnsize", "ffn"},
     {"vocabsize", "vocab"},
     {"vocabulary", "vocab"},
     {"numexperts", "n_experts"},
     {"experts", "n_experts"},
     {"nummoeexperts", "n_experts"},
     {"numexpertspertok", "top_k"},
     {"moeroutertopk", "top_k"},
     {"expertspertoken", "top_k"},
     {"moeintermediatesize", "expert_ffn"},
     {"moeffnhiddensize", "expert_ffn"},
     {"ngpus", "n_chips"},
     {"numgpus", "n_chips"},
     {"gpus", "n_chips"},
     {"worldsize", "n_chips"},
     {"chips", "n_chips"},
     {"devices", "n_chips"},
     {"ndevices", "n_chips"},
     {"numdevices", "n_chips"},
     {"gpuspernode", "chips_per_node"},
     {"devicespernode", "chips_per_node"},
     {"gpu", "chip"},
     {"gputype", "chip"},
     {"gpumodel", "chip"},
     {"hardware", "chip"},
     {"accelerator", "chip"},
     {"device", "chip"},
     {"model", "model_name"},
     {"schedule", "sched"},
     {"pipelineschedule", "sched"},
     {"sharding", "dp_kind"},
     {"dtype", "precision"},
     {"interconnect", "inter_link"},
     {"network", "inter_link"},
     {"recomputation", "recompute"},
     {"activationcheckpointing", "recompute"},
     {"activationrecompute", "recompute"},
     {"sequenceparallel", "seq_parallel"},
     {"flashattention", "flash_attn"},
     {"cudagraphs", "cuda_graph"},
     {"framework", "software"},
     {"id", "case_id"},
     {"case", "case_id"},
     {"runid", "case_id"},
     {"steptime", "iter_time_s"},
     {"steptimes", "iter_time_s"},
     {"stepseconds", "iter_time_s"},
     {"itertime", "iter_time_s"},
     {"iterationtime", "iter_time_s"},
     {"iterationtimes", "iter_time_s"},
     {"timeperstep", "iter_time_s"},
     {"timeperiteration", "iter_time_s"},
     {"secondsperstep", "iter_time_s"},
     {"steptimems", "iter_time_ms"},
     {"iterationtimems", "iter_time_ms"},
     {"msperstep", "iter_time_ms"},
     {"timeperstepms", "iter_time_ms"},
     {"tokenssgpu", "tokens_per_s_per_gpu"},
     {"tokenspersecpergpu", "tokens_per_s_per_gpu"},
     {"tokenspersecondpergpu", "tokens_per_s_per_gpu"},
     {"toksgpu", "tokens_per_s_per_gpu"},
     {"tokenss", "tokens_per_s"},
     {"tokenspersec", "tokens_per_s"},
     {"tokenspersecond", "tokens_per_s"},
     {"sampless", "samples_per_s"},
     {"samplespersec", "samples_per_s"},
     {"samplespersecond", "samples_per_s"},
     {"tflopsgpu", "tflops_per_gpu"},
     {"tflopssgpu", "tflops_per_gpu"},
     {"tflopsdevice", "tflops_per_gpu"},
     {"mfu", "mfu_pct"},
     {"peakmemorygb", "mem_gb"},
     {"memorygb", "mem_gb"}}};
// Columns of words, which tables may write in capital letters or with blanks.
constexpr std::array<std::string_view, 23> kWordColumns = {
    "case_id",   "family",  "grade",      "model_name",  "arch",     "mla",
    "chip",      "hw_key",  "inter_link", "sched",       "dp_kind",  "recompute",
    "precision", "offload", "cuda_graph", "tflops_kind", "mem_kind", "inferred_fields",
    "source",    "notes",   "software",   "stack",       "cluster"};

std::string letters_of(std::string_view name) {
  std::string letters = lower(name);
  std::erase_if(letters, [](unsigned char c) { return std::isalnum(c) == 0; });
  return letters;
}

/// The column that one of another name is; the name itself where that is not known.
std::string column_called(const std::string& name) {
  const std::string letters = letters_of(name);
  const auto* const known = std::ranges::find(kColumnNames, letters, &ColumnName::called);
  if (known != kColumnNames.end()) {
    return std::string(known->column);
  }
  const auto* const word = std::ranges::find(kWordColumns, letters, letters_of);
  const std::string_view own = word != kWordColumns.end() ? *word : number_column_called(letters);
  return own.empty() ? name : std::string(own);
}

}  // namespace

CsvTable with_run_columns(CsvTable table) {
  CsvTable called = table;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const std::string column = column_called(table.columns()[i]);
    if (!called.has(column)) {
      called.rename(i, column);
    }
  }
  const bool are_runs = called.has_all({"case_id", "n_chips", "layers", "hidden"});
  return are_runs ? called : table;
}

}  // namespace titer

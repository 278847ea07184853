#include "titer/trace/trace_category.hpp"

#include <algorithm>
#include <string>

#include "titer/input/words.hpp"

namespace titer {
namespace {

using enum TraceCategory;

// The library's kernels first, since their names hold words of all kinds ("Sum", "Generic"); then
// kernels of others that communicate; then compute, the special before the general.
constexpr std::array kRules = std::to_array<KernelRule>({
    // NCCL 2.4 to 2.28 (ncclKernel_, ncclDevKernel_, ncclSymkDevKernel_), RCCL, oneCCL.
    {"ccl", "alltoall|all_to_all", all_to_all},
    {"ccl", "allgather", all_gather},
    {"ccl", "allreduce", all_reduce},
    {"ccl", "reducescatter|reduce_scatter", reduce_scatter},
    {"ccl", "sendrecv", send_recv},
    {"ccl", "broadcast", broadcast},
    {"nccl", "kernel", other_comm},
    {"rccl|mscclkernel", "", other_comm},
    // DeepEP, Transformer Engine's user buffers, symmetric memory, vLLM.
    {"deep_ep|internode::|intranode::", "dispatch|combine", all_to_all},
    {"deep_ep", "", other_comm},
    {"userbuffers", "push", send_recv},
    {"userbuffers", "_rs", reduce_scatter},
    {"userbuffers", "_ag", all_gather},
    {"userbuffers|all_reduce_kernel|cross_device_reduce", "", all_reduce},
    {"multimem_all_gather", "", all_gather},
    {"reduce_scatter_kernel", "", reduce_scatter},
    {"nvshmem", "", other_comm},
    // XLA's operations, with -start and -done.
    {"all-to-all", "", all_to_all},
    {"all-gather", "", all_gather},
    {"all-reduce-scatter|reduce-scatter", "", reduce_scatter},
    {"all-reduce", "", all_reduce},
    {"collective-permute", "", send_recv},
    {"collective-broadcast", "", broadcast},
    {"infeed", "", host_to_device},
    {"outfeed", "", device_to_host},
    // Copies, of CUDA and HIP, and of XLA.
    {"memcpy", "htod", host_to_device},
    {"memcpy", "dtoh", device_to_host},
    {"memcpy", "ptop", send_recv},
    {"memcpy|memset", "", on_device},
    {"copyhosttodevice", "", host_to_device},
    {"copydevicetohost", "", device_to_host},
    {"copydevicetodevice|copy-start|copy-done", "", on_device},
    // Attention, before the products that it is made of.
    {"flash|fmha|attention|attn|mha_", "", attention},
    // The optimizer: fused ones and PyTorch's and Apex's lists of tensors.
    {"adam|multi_tensor|multitensor|adagrad|lamb_|optimizer", "", optimizer},
    // Changes of layout, norms and reductions, some with the words of products in their names.
    {"nchwtonhwc|nhwctonchw|data formatting|bn_fw|bn_bw|norm|softmax|elementwise", "", elementwise},
    // Products and convolutions: cuBLAS, cuDNN, CUTLASS, hipBLASLt and Tensile, Triton, XLA.
    {"gemm|gemv|matmul|xmma|nvjet|cublas|cutlass|cijk_|splitkreduce", "", matrix},
    {"convolution|conv1d|conv2d|conv3d|_conv_|winograd|wgrad|dgrad|scudnn|hcudnn", "", matrix},
    {"triton_mm|triton_tem_|einsum|output fusion|koutput", "", matrix},
    // The rest of what moves memory.
    {"triton_poi|triton_red|triton_per|reduce|gelu|silu|swiglu|dropout|embedding", "", elementwise},
    {"transpose|permute|catarray|index|scatter|gather|pool", "", elementwise},
    {"loop fusion|input fusion|kloop|kinput", "", elementwise},
});

// XLA's names of single operations, as they are before the number: "dot.12".
struct OperationRule {
  std::string_view names;
  TraceCategory category;
};
constexpr std::array kOperationRules = std::to_array<OperationRule>({
    {"dot", matrix},
    {"send|send-done|recv|recv-done", send_recv},
    {"copy", on_device},
    {"add|multiply|convert|bitcast|broadcast|slice|dynamic-slice|dynamic-update-slice",
     elementwise},
    {"concatenate|pad|select|sort|iota", elementwise},
});

/// Whether one of the words between bars is so.
template <class Is>
bool any_word(std::string_view words, const Is& is) {
  while (true) {
    const std::size_t bar = std::min(words.find('|'), words.size());
    if (is(words.substr(0, bar))) {
      return true;
    }
    if (bar == words.size()) {
      return false;
    }
    words.remove_prefix(bar + 1);
  }
}

bool has(std::string_view text, std::string_view words) {
  return any_word(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// "%dot.12" to "dot".
std::string_view operation(std::string_view name) {
  name.remove_prefix(name.substr(0, 1) == "%" ? 1 : 0);
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != name.npos && name[last] == '.') {
    name = name.substr(0, last);
  }
  return name;
}

std::optional<TraceCategory> by_rules(std::string_view name) {
  std::string low = lower(name);
  // The library of embeddings has the word of products in its name.
  constexpr std::string_view library = "fbgemm";
  for (std::size_t at = low.find(library); at != low.npos; at = low.find(library)) {
    low.replace(at, library.size(), "fb");
  }
  const std::string_view single = operation(low);
  for (const OperationRule& rule : kOperationRules) {
    if (any_word(rule.names, [&](std::string_view word) { return word == single; })) {
      return rule.category;
    }
  }
  for (const KernelRule& rule : kRules) {
    if (has(low, rule.words) && has(low, rule.also)) {
      return rule.category;
    }
  }
  return std::nullopt;
}

}  // namespace

std::span<const KernelRule> kernel_rules() { return kRules; }

std::optional<TraceCategory> collective_category(std::string_view name) {
  std::string letters;
  for (const char c : lower(name)) {
    if (c >= 'a' && c <= 'z') {
      letters.push_back(c);
    }
  }
  // "reducescatter" holds "reduce" and "scatter"; what is left of those is of a root's.
  constexpr std::array rules =
      std::to_array<OperationRule>({{"alltoall", all_to_all},
                                    {"allgather", all_gather},
                                    {"reducescatter", reduce_scatter},
                                    {"allreduce", all_reduce},
                                    {"broadcast", broadcast},
                                    {"permute|send|recv", send_recv},
                                    {"gather|scatter|reduce|barrier", other_comm}});
  for (const OperationRule& rule : rules) {
    if (has(letters, rule.names)) {
      return rule.category;
    }
  }
  return std::nullopt;
}

TraceCategory category_of(const TraceLabel& label) {
  if (!label.collective.empty()) {
    if (const auto category = collective_category(label.collective)) {
      return *category;
    }
  }
  if (!label.hlo_category.empty()) {
    if (const auto category = by_rules(label.hlo_category)) {
      return *category;
    }
  }
  return by_rules(label.name).value_or(other_compute);
}

bool holds_others(std::string_view name) {
  const std::string low = lower(name);
  const std::string_view single = operation(low);
  return single == "while" || single == "conditional" || single == "call";
}

bool is_idle(std::string_view name) { return lower(name) == "idle"; }

}  // namespace titer

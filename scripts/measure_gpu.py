#!/usr/bin/env python3
"""Measures a GPU the way training uses it, with PyTorch (2.0 or newer) and nothing else.

Each table goes to one CSV file of the folder --out; `titer calibrate` and `titer validate` read them:

  gemm                products of training: projections, feed-forward, logits, their gradients, odd shapes
  attention           scaled dot-product attention, forward (FlashAttention, and cuDNN's kernels)
  attention_backward  its gradients
  memory              norms, softmax, activations, dropout-add, casts to fp8, embedding, cross-entropy,
                      optimizer steps and copies; bytes = what the operation must read and write, each
                      once; compiled_x is x through torch.compile
  launch              what the host needs per kernel and per kind of operation, and the gap between
                      kernels of a CUDA graph
  experts             a layer of experts by part (router, permutation, products, their undoing), with
                      products grouped, one by one after the host read the counts, or padded
  layers              one GPT or Llama layer: forward, backward, optimizer
  steps               whole training steps of small models, with peak memory
  trace               a PyTorch profiler (Kineto) trace of one training step, trace_<model>.json.gz
  collectives         all_reduce, all_gather, reduce_scatter, alltoall, sendrecv by size, in the folder
                      collectives/; needs several devices (all of this machine, or torchrun over nodes)
  sustained           with --sustained: one product over and over until clocks have settled

conditions.json says on what, when and how all that was measured; spread.csv the fastest, median and
slowest repeat behind each figure. A file is written when its table is done, whole or not at all.
"""
from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import datetime
import gc
import gzip
import io
import itertools
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

MODEL_COLUMNS = ("model,layers,hidden,heads,kv_heads,head_dim,ffn,ffn_gated,vocab,batch,seq,precision,"
                 "flash,compile,forward_us,backward_us,optimizer_us,step_us,peak_memory_bytes,software")
HEADERS = {
    "gemm": "dtype,m,n,k,time_us,kernel,software",
    "attention": "dtype,batch,seq,heads,kv_heads,head_dim,causal,window,time_us,kernel,software",
    "attention_backward":
        "dtype,batch,seq,heads,kv_heads,head_dim,causal,window,time_us,kernel,software,pass",
    "memory": "operation,bytes,time_us",
    "launch": "quantity,kernels,time_us",
    "experts": "part,pass,kind,dtype,tokens,hidden,ffn,experts,topk,time_us,host_us,kernels,software",
    "layers": MODEL_COLUMNS,
    "steps": MODEL_COLUMNS,
    "trace": "model,file,steps",
    "collectives": "size_bytes,time_us,algbw_GBps,busbw_GBps,op,ngpus,nnodes,dtype,hardware,"
                   "interconnect,source,notes",
    "sustained": "second,dtype,m,n,k,time_us,clock_mhz,power_w,temperature_c",
}
SPREAD_HEADER = "table,shape,fastest_us,median_us,slowest_us,repeats,how"
MEASURED = {"time_us", "host_us", "software", "forward_us", "backward_us", "optimizer_us", "step_us",
            "peak_memory_bytes", "algbw_GBps", "busbw_GBps", "hardware", "interconnect", "source",
            "notes"}
GB = 1_000_000_000
LARGEST_TENSOR = 4 * GB  # of a shape in the grids

Row = dict[str, Any]


class UserError(Exception):
    """What the user can put right: one line on stderr, exit 2."""


class Skipped(Exception):
    """This shape cannot be measured here; the others can."""


# --- What is measured: plain lists, no PyTorch needed -----------------------------------------------


@dataclasses.dataclass(frozen=True)
class Model:
    """A transformer, or one layer of it where vocab is 0."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    gated: bool
    vocab: int
    batch: int
    seq: int

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads

    def columns(self) -> Row:
        return {"model": self.name, "layers": self.layers, "hidden": self.hidden, "heads": self.heads,
                "kv_heads": self.kv_heads, "head_dim": self.head_dim, "ffn": self.ffn,
                "ffn_gated": int(self.gated), "vocab": self.vocab or "", "batch": self.batch,
                "seq": self.seq}


def gpt(name: str, layers: int, hidden: int, heads: int, batch: int, seq: int,
        vocab: int = 0) -> Model:
    return Model(name, layers, hidden, heads, heads, 4 * hidden, False, vocab, batch, seq)


def llama(name: str, layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, batch: int,
          seq: int, vocab: int = 0) -> Model:
    return Model(name, layers, hidden, heads, kv_heads, ffn, True, vocab, batch, seq)


TINY = [gpt("gpt-tiny", 2, 64, 4, 2, 16, 96), llama("llama-tiny", 2, 64, 4, 2, 96, 2, 16, 96)]


def layer_models(grid: str) -> list[Model]:
    if grid == "tiny":
        return [dataclasses.replace(model, layers=1, vocab=0) for model in TINY]
    shapes = [gpt(f"gpt-layer-{hidden}", 1, hidden, hidden // 128, batch, seq)
              for hidden in (1024, 2048, 4096, 5120, 8192, 12288)
              for batch, seq in ((1, 2048), (4, 2048), (16, 1024))]
    shapes += [llama(f"llama-layer-{hidden}", 1, hidden, heads, kv_heads, ffn, batch, seq)
               for hidden, heads, kv_heads, ffn in ((2048, 32, 8, 8192), (4096, 32, 8, 14336),
                                                    (4096, 32, 32, 11008), (5120, 40, 40, 13824),
                                                    (8192, 64, 8, 28672))
               for batch, seq in ((1, 4096), (2, 4096), (1, 8192), (4, 2048))]
    return shapes[::4] if grid == "quick" else shapes


def step_models(grid: str) -> list[Model]:
    if grid == "tiny":
        return TINY
    shapes = [gpt("gpt-125m", 12, 768, 12, 8, 1024, 50304), gpt("gpt-125m", 12, 768, 12, 16, 2048, 50304),
              gpt("gpt-355m", 24, 1024, 16, 8, 1024, 50304), gpt("gpt-355m", 24, 1024, 16, 4, 2048, 50304),
              gpt("gpt-1.3b", 24, 2048, 16, 2, 2048, 50304), gpt("gpt-1.3b", 24, 2048, 16, 4, 2048, 50304),
              gpt("gpt-2.7b", 32, 2560, 32, 2, 2048, 50304),
              llama("llama-1b", 16, 2048, 32, 8, 8192, 2, 4096, 128256),
              llama("llama-3b", 28, 3072, 24, 8, 8192, 1, 4096, 128256),
              llama("llama-8b-4-layers", 4, 4096, 32, 8, 14336, 1, 4096, 128256),
              llama("llama-8b-4-layers", 4, 4096, 32, 8, 14336, 2, 8192, 128256)]
    return shapes[::3] if grid == "quick" else shapes


def model_shapes(models: Sequence[Model], options: argparse.Namespace) -> Iterator[Row]:
    for model, precision in itertools.product(models, options.precision):
        for flash, compiled in ((1, 0), (0, 0)) + (((1, 1),) if options.compile else ()):
            if flash or model.seq <= 2048:  # a score matrix per head, no longer than this
                yield dict(model.columns(), precision=precision, flash=flash, compile=compiled,
                           _model=model)


def projections(hidden: int, kv_hidden: int, ffn: int, gated: bool, tensor: int) -> list[tuple[int, int]]:
    """(n, k) of a layer's four products, split over so many tensor-parallel ranks."""
    return [((hidden + 2 * kv_hidden) // tensor, hidden), (hidden, hidden // tensor),
            ((2 if gated else 1) * ffn // tensor, hidden), (hidden, ffn // tensor)]


ODD_PRODUCTS = [(1, 4096, 4096), (17, 4096, 4096), (127, 1000, 1000), (1000, 1000, 1000),
                (1023, 1025, 1027), (4095, 4097, 4096), (4096, 50257, 2048), (4097, 50304, 1024),
                (8191, 8191, 8191), (3000, 5000, 7000), (2048, 11008, 4095), (100, 100, 100_000),
                (100_000, 64, 64), (64, 64, 64), (256, 256, 256), (16384, 128, 16384)]


def gemm_shapes(options: argparse.Namespace) -> list[Row]:
    if options.grid == "tiny":
        products = {(4, 8, 16), (17, 19, 23)}
    else:
        products = set(ODD_PRODUCTS)
        tokens = (2048, 8192) if options.grid == "quick" else (256, 1024, 2048, 4096, 8192, 16384)
        widths = [(1024, 1024, 4096, False), (2048, 2048, 8192, False), (4096, 1024, 14336, True),
                  (5120, 5120, 13824, True), (8192, 1024, 28672, True), (12288, 12288, 49152, False)]
        splits = (1, 8) if options.grid == "quick" else (1, 2, 4, 8)
        for (hidden, kv_hidden, ffn, gated), tensor, m in itertools.product(widths, splits, tokens):
            for n, k in projections(hidden, kv_hidden, ffn, gated, tensor):
                products.add((m, n, k))       # forward
                if tensor in (1, 8):
                    products.add((m, k, n))   # gradient of the input
                    products.add((n, k, m))   # gradient of the weight
        for m, (vocab, hidden) in itertools.product(tokens, ((50304, 1024), (51200, 12288), (32000, 4096),
                                                             (128256, 4096))):
            products |= {(m, vocab, hidden), (m, vocab // 8, hidden)}
        for edge in range(512, 8192 + 1, 2048 if options.grid == "quick" else 512):
            products.add((edge, edge, edge))
    return [{"dtype": dtype, "m": m, "n": n, "k": k} for dtype in options.dtypes
            for m, n, k in sorted(products)
            if 2 * max(m * n, n * k, m * k) <= LARGEST_TENSOR
            and (dtype != "fp8" or (n % 16 == 0 and k % 16 == 0))]


def attention_shapes(options: argparse.Namespace) -> list[Row]:
    if options.grid == "tiny":
        heads, batches, lengths = [(4, 2, 16)], (2,), (16,)
    elif options.grid == "quick":
        heads, batches, lengths = [(16, 16, 64), (32, 8, 128)], (1, 4), (2048, 8192)
    else:
        heads = [(12, 12, 64), (16, 16, 64), (16, 16, 128), (32, 32, 128), (32, 8, 128), (8, 1, 128),
                 (40, 40, 128), (64, 8, 128), (12, 12, 128), (24, 24, 96), (16, 16, 256)]
        batches, lengths = (1, 4), (512, 1024, 2000, 2048, 4096, 8192, 16384, 32768)
    return [{"dtype": dtype, "batch": batch, "seq": seq, "heads": query, "kv_heads": key_value,
             "head_dim": width, "causal": causal, "window": 0, "kernel": kernel}
            for dtype in options.dtypes if dtype != "fp8"
            for (query, key_value, width), batch, seq in itertools.product(heads, batches, lengths)
            if batch * seq <= 32768 for causal in (1, 0) for kernel in ("sdpa_flash", "sdpa_cudnn")
            if kernel == "sdpa_flash" or options.grid != "tiny"]


MEMORY_OPERATIONS = ("layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_backward", "softmax",
                     "softmax_backward", "gelu", "gelu_backward", "swiglu", "swiglu_backward",
                     "dropout_add", "add", "embedding", "embedding_backward", "cross_entropy",
                     "cross_entropy_backward", "cast_fp8", "cast_fp8_current", "cast_fp8_blocks",
                     "cast_fp8_transposed", "rotary", "gather_rows")
COMPILED_OPERATIONS = ("layer_norm", "rms_norm", "gelu", "swiglu", "dropout_add", "cross_entropy",
                       "cast_fp8", "cast_fp8_current", "cast_fp8_blocks", "rotary")


def memory_shapes(options: argparse.Namespace) -> list[Row]:
    """(rows, width) per operation; sizes in bytes for copies, in parameters for optimizers."""
    tiny, quick = options.grid == "tiny", options.grid == "quick"
    rows = (32,) if tiny else (2048, 8192) if quick else (256, 1024, 4096, 16384, 65536)
    widths = (64,) if tiny else (4096,) if quick else (768, 1024, 4096, 8192, 12288)
    vocabs = (96,) if tiny else (50304,) if quick else (32000, 50304, 128256)
    shapes = []
    for operation, count in itertools.product(MEMORY_OPERATIONS, rows):
        over_vocab = operation.startswith(("cross_entropy", "embedding"))
        for width in vocabs if over_vocab else widths:
            if count * width * 4 <= LARGEST_TENSOR:
                shapes.append({"operation": operation, "_rows": count, "_width": width})
    if options.compile:
        shapes += [{"operation": f"compiled_{operation}", "_rows": count, "_width": width}
                   for operation in COMPILED_OPERATIONS for count in rows[-2:-1] or rows
                   for width in (vocabs[:1] if operation == "cross_entropy" else widths[-3:-1] or widths)]
    sizes = (4096,) if tiny else (2**20, 2**26, 2**30) if quick else [2**n for n in range(12, 32)]
    for operation, size in itertools.product(("copy", "fill"), sizes):
        shapes.append({"operation": operation, "_size": size})
    for operation, size in itertools.product(("copy_host_to_device", "copy_device_to_host"), sizes[::2]):
        if size <= 2**28:
            shapes.append({"operation": operation, "_size": size})
    parameters = (1000,) if tiny else (10**8,) if quick else (10**6, 10**7, 10**8, 10**9)
    for operation, count, precision in itertools.product(
            ("adamw_fused", "adamw_foreach", "clip_grad_norm"), parameters, ("fp32", "bf16")):
        shapes.append({"operation": f"{operation}_{precision}", "_parameters": count})
    return shapes


LAUNCH_KINDS = ("add", "linear", "linear_with_gradient", "layer_norm", "softmax", "attention",
                "scaled_product", "grouped_product", "index", "sort", "cast", "view", "empty", "wait",
                "compiled", "optimizer_fused", "optimizer_foreach", "optimizer_single", "all_reduce")


def launch_shapes(options: argparse.Namespace) -> list[Row]:
    shapes: list[Row] = [{"quantity": quantity, "kernels": 400} for quantity in
                         ("host_per_kernel_eager", "device_per_kernel_eager",
                          "device_per_kernel_graph", "host_per_graph")]
    shapes += [{"quantity": f"host_{kind}", "kernels": 1, "_kind": kind} for kind in LAUNCH_KINDS
               if options.grid != "tiny" or kind in ("add", "linear_with_gradient")]
    for model in layer_models(options.grid)[:1] + layer_models(options.grid)[-1:]:
        small = dataclasses.replace(model, batch=1, seq=16)
        for part in ("forward", "backward"):
            shapes.append({"quantity": f"host_{part}_{model.name}", "kernels": "", "_model": small})
    return shapes


EXPERT_PARTS = ("router", "permute", "products", "unpermute", "layer")
EXPERT_KINDS = ("grouped", "loop", "padded")


def expert_shapes(options: argparse.Namespace) -> list[Row]:
    """Layers of Mixtral, of Qwen3, of DeepSeek-V3's ranks, and of tokens so few that the host counts."""
    if options.grid == "tiny":
        layers, counts = [(16, 32, 4, 2)], (8,)
    else:
        layers = [(4096, 14336, 8, 2), (2048, 768, 128, 8), (4096, 1536, 32, 8), (7168, 2048, 8, 8),
                  (2880, 2880, 32, 4)]
        counts = (256, 4096) if options.grid == "quick" else (64, 1024, 4096, 16384)
    return [{"part": part, "pass": direction, "kind": kind, "dtype": "bf16", "tokens": tokens,
             "hidden": hidden, "ffn": ffn, "experts": experts, "topk": topk}
            for (hidden, ffn, experts, topk), tokens in itertools.product(layers, counts)
            for kind in EXPERT_KINDS for part in EXPERT_PARTS for direction in ("forward", "backward")
            if kind == EXPERT_KINDS[0] or part in ("products", "layer")
            if kind != "grouped" or part not in ("products", "layer") or options.grid != "tiny"]


COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv")


def collective_shapes(options: argparse.Namespace, group: Any = "each group") -> list[Row]:
    sizes = (4096,) if options.grid == "tiny" else [2**n for n in
                                                   range(10, 34, 4 if options.grid == "quick" else 1)]
    return [{"size_bytes": size, "op": op, "ngpus": group, "dtype": dtype}
            for op in COLLECTIVES for dtype in ("bf16", "fp32") for size in sizes
            if dtype == "bf16" or op == "all_reduce"]


SUSTAINED_PRODUCT = {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192}


def shapes_of(table: str, options: argparse.Namespace) -> list[Row]:
    if table == "gemm":
        return gemm_shapes(options)
    if table in ("attention", "attention_backward"):
        backward = {"pass": "backward"} if table == "attention_backward" else {}
        return [dict(shape, **backward) for shape in attention_shapes(options)]
    if table == "memory":
        return memory_shapes(options)
    if table == "launch":
        return launch_shapes(options)
    if table == "experts":
        return expert_shapes(options)
    if table == "layers":
        return list(model_shapes(layer_models(options.grid), options))
    if table == "steps":
        return list(model_shapes(step_models(options.grid), options))
    if table == "trace":
        return [{"model": model.name, "_model": model} for model in step_models(options.grid)[-2:]]
    if table == "collectives":
        return collective_shapes(options)
    return [dict(SUSTAINED_PRODUCT)] if table == "sustained" else []


def label(shape: Row) -> str:
    """One word per column that says what is measured."""
    return " ".join(f"{key.lstrip('_')}={value}" for key, value in shape.items()
                    if key not in MEASURED and key not in ("_model", "_kind"))


# --- Files: whole or not at all ---------------------------------------------------------------------


def write_whole(path: pathlib.Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(partial, 0o666 & ~umask)  # mkstemp makes it private
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
        raise


def figure(value: Any) -> Any:
    """Five digits or more, never an exponent."""
    return f"{value:.{max(0, 5 - len(str(int(value))))}f}" if isinstance(value, float) else value


def write_csv(path: pathlib.Path, header: str, rows: Iterable[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, header.split(","), restval="", extrasaction="ignore",
                            lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: figure(value) for key, value in row.items()})
    write_whole(path, text.getvalue())


def read_csv(path: pathlib.Path) -> list[Row]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Progress:
    """Where a table stands, on stderr; one line that moves where that is a terminal."""

    def __init__(self, table: str, total: int) -> None:
        self.table, self.total, self.done = table, total, 0
        self.began = self.told = time.monotonic()
        self.moving = sys.stderr.isatty()

    def step(self, what: str) -> None:
        self.done += 1
        now = time.monotonic()
        if self.done < self.total and now - self.told < (0.2 if self.moving else 30):
            return
        self.told = now
        left = (now - self.began) / self.done * (self.total - self.done)
        line = f"{self.table} {self.done}/{self.total} {what}, {left / 60:.1f} min left"
        if self.moving:
            width = shutil.get_terminal_size().columns - 1
            print("\r" + line[:width].ljust(width), end="", file=sys.stderr)
        else:
            print(line, file=sys.stderr)
        if self.moving and self.done == self.total:
            print(file=sys.stderr)


# --- The device and its clock -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Sample:
    """What one thing took, in microseconds."""

    fastest: float
    median: float
    slowest: float
    repeats: int
    how: str


def sample(figures: Sequence[float], how: str) -> Sample:
    return Sample(min(figures), statistics.median(figures), max(figures), len(figures), how)


def nvidia_smi(*fields: str, device: int = 0) -> dict[str, Optional[str]]:
    """Fields of nvidia-smi; None where it is missing or does not know."""
    try:
        done = subprocess.run(["nvidia-smi", f"--id={device}", "--query-gpu=" + ",".join(fields),
                               "--format=csv,noheader,nounits"], check=True, text=True, timeout=30,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return dict.fromkeys(fields)
    values = [value.strip() for value in (done.splitlines() or [""])[0].split(",")]
    known = [None if value.startswith("[") or value == "N/A" else value for value in values]
    return dict(zip(fields, known)) if len(known) == len(fields) else dict.fromkeys(fields)


def host_processor() -> Optional[str]:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None


STATE = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")


class Device:
    """Times work on a GPU with events, launch-free by replaying a CUDA graph of it where that works;
    on the CPU (self-test only) with the clock of the host."""

    def __init__(self, torch: Any, options: argparse.Namespace) -> None:
        self.torch, self.options = torch, options
        self.on_gpu = torch.cuda.is_available() and not options.self_test
        self.device = torch.device("cuda", torch.cuda.current_device()) if self.on_gpu \
            else torch.device("cpu")
        self.stream = torch.cuda.Stream() if self.on_gpu else None
        self.scratch = None
        if self.on_gpu and options.flush_l2:
            cache = getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", 0)
            self.scratch = torch.empty(max(4 * cache, 2**28), dtype=torch.int8, device=self.device)

    @property
    def software(self) -> str:
        return f"torch-{self.torch.__version__}"

    @property
    def name(self) -> str:
        return self.torch.cuda.get_device_name(self.device) if self.on_gpu else "CPU (self-test)"

    def dtype(self, name: str) -> Any:
        names = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp8": "float8_e4m3fn"}
        if not hasattr(self.torch, names[name]):
            raise Skipped(f"this PyTorch has no {names[name]}")
        return getattr(self.torch, names[name])

    def random(self, *size: int, dtype: str = "bf16", grad: bool = False) -> Any:
        """Normal figures: what a chip draws, and so its clock, depends on the bits that toggle."""
        tensor = self.torch.randn(*size, device=self.device, dtype=self.dtype(dtype))
        return tensor.requires_grad_(grad)

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """All work of a table is on one stream of its own, so that it can be captured."""
        if not self.on_gpu:
            yield
            return
        with self.torch.cuda.device(self.device), self.torch.cuda.stream(self.stream):
            yield
        self.torch.cuda.synchronize()

    def synchronize(self) -> None:
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def seconds(self, work: Callable[[], Any]) -> float:
        """Of the device; of the host on a CPU."""
        if not self.on_gpu:
            began = time.perf_counter()
            work()
            return time.perf_counter() - began
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def capture(self, work: Callable[[], Any], times: int) -> Optional[Callable[[], None]]:
        """A graph of so many calls; nothing where they cannot be captured."""
        if not self.on_gpu or not self.options.graphs:
            return None
        graph = self.torch.cuda.CUDAGraph()
        try:
            with self.torch.cuda.graph(graph, stream=self.stream):
                for _ in range(times):
                    work()
        except RuntimeError as error:
            if isinstance(error, self.torch.cuda.OutOfMemoryError):
                raise
            self.torch.cuda.synchronize()
            return None
        return graph.replay

    def time(self, work: Callable[[], Any], graphs: bool = True) -> Sample:
        """Microseconds of one call: median of repeats, each as long as --min-time."""
        for _ in range(self.options.warm_up):
            work()
        self.synchronize()
        if self.scratch is not None:
            return self.time_cold(work, graphs)
        once = max(self.seconds(work), 1e-7)
        calls = max(1, min(1000, int(self.options.min_time * 1e-3 / once)))
        replay = self.capture(work, calls) if graphs else None
        how = "graph" if replay else "eager"

        def eager() -> None:
            for _ in range(calls):
                work()

        run = replay or eager
        run()
        self.synchronize()
        return sample([self.seconds(run) / calls * 1e6 for _ in range(self.options.repeats)], how)

    def time_cold(self, work: Callable[[], Any], graphs: bool) -> Sample:
        """Each call after the L2 cache was overwritten, which also hides its launch."""
        replay = self.capture(work, 1) if graphs else None
        run = replay or work
        pairs = []
        for _ in range(max(10, self.options.repeats)):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.scratch.zero_()
            begin.record()
            run()
            end.record()
            pairs.append((begin, end))
        self.synchronize()
        return sample([begin.elapsed_time(end) * 1e3 for begin, end in pairs],
                      "graph, L2 flushed" if replay else "eager, L2 flushed")

    def forget(self) -> None:
        """Hands cached memory back."""
        gc.collect()
        if self.on_gpu:
            self.torch.cuda.empty_cache()

    def state(self) -> dict[str, Optional[str]]:
        return nvidia_smi(*STATE, device=self.device.index or 0) if self.on_gpu \
            else dict.fromkeys(STATE)

    def conditions(self) -> Row:
        torch = self.torch
        fixed = ("driver_version", "power.limit", "clocks.max.sm", "clocks.max.mem", "ecc.mode.current",
                 "persistence_mode", "mig.mode.current", "pcie.link.gen.max", "pcie.link.width.max")
        facts: Row = {"device": self.name, "devices": torch.cuda.device_count() if self.on_gpu else 0,
                      "torch": torch.__version__, "cuda": torch.version.cuda,
                      "hip": getattr(torch.version, "hip", None),
                      "cudnn": torch.backends.cudnn.version(), "nccl": None,
                      "python": platform.python_version(), "system": platform.platform(terse=True),
                      "host": host_processor()}
        if self.on_gpu:
            found = torch.cuda.get_device_properties(self.device)
            facts.update(memory_bytes=found.total_memory, processors=found.multi_processor_count,
                         capability=f"{found.major}.{found.minor}")
            with contextlib.suppress(Exception):  # builds without NCCL say so in many ways
                facts["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
        facts["nvidia_smi"] = nvidia_smi(*fixed, device=self.device.index or 0) if self.on_gpu \
            else dict.fromkeys(fixed)
        return facts


# --- Measurements: each takes a shape and gives its row and what the figure rests on ----------------


def measure_gemm(device: Device, shape: Row) -> tuple[Row, Sample]:
    torch, m, n, k = device.torch, shape["m"], shape["n"], shape["k"]
    if shape["dtype"] != "fp8":
        a, b = device.random(m, k, dtype=shape["dtype"]), device.random(n, k, dtype=shape["dtype"])
        out = torch.empty(m, n, dtype=a.dtype, device=device.device)
        took = device.time(lambda: torch.mm(a, b.t(), out=out))
        return {"time_us": took.median, "kernel": "torch_mm"}, took
    if not hasattr(torch, "_scaled_mm"):
        raise Skipped("this PyTorch has no _scaled_mm")
    kind = device.dtype("fp8")
    a, b = device.random(m, k).to(kind), device.random(n, k).to(kind)
    one = torch.ones((), device=device.device)

    def scaled() -> Any:
        return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    took = device.time(scaled)
    return {"time_us": took.median, "kernel": "torch_scaled_mm"}, took


@contextlib.contextmanager
def attention_kernel(device: Device, kernel: str) -> Iterator[None]:
    """Only FlashAttention, only cuDNN's kernels, or only the plain products and softmax."""
    torch = device.torch
    if not device.on_gpu:
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
            name = {"sdpa_flash": "FLASH_ATTENTION", "sdpa_cudnn": "CUDNN_ATTENTION", "math": "MATH"}
            if not hasattr(SDPBackend, name[kernel]):
                raise Skipped(f"this PyTorch has no {kernel}")
            stack.enter_context(sdpa_kernel(getattr(SDPBackend, name[kernel])))
        except ImportError as error:  # PyTorch 2.0 to 2.2
            if kernel == "sdpa_cudnn":
                raise Skipped("this PyTorch cannot choose cuDNN's attention") from error
            flash = kernel == "sdpa_flash"
            stack.enter_context(torch.backends.cuda.sdp_kernel(
                enable_flash=flash, enable_math=not flash, enable_mem_efficient=False))
        yield


def measure_attention(device: Device, shape: Row) -> tuple[Row, Sample]:
    torch, backward = device.torch, shape.get("pass") == "backward"
    heads, kv_heads = shape["heads"], shape["kv_heads"]

    def tensor(count: int) -> Any:
        return device.random(shape["batch"], count, shape["seq"], shape["head_dim"],
                             dtype=shape["dtype"], grad=backward)

    query, key, value = tensor(heads), tensor(kv_heads), tensor(kv_heads)
    more, kernel = {}, shape["kernel"]
    if kv_heads != heads:
        if "enable_gqa" in (torch.nn.functional.scaled_dot_product_attention.__doc__ or ""):
            more = {"enable_gqa": True}
        else:
            key, value, kernel = tensor(heads), tensor(heads), f"{kernel}_expanded"

    def forward() -> Any:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=bool(shape["causal"]), **more)

    with attention_kernel(device, shape["kernel"]):
        if not backward:
            with torch.no_grad():
                took = device.time(forward)
        else:
            out = forward()
            gradient = torch.randn_like(out)
            took = device.time(lambda: torch.autograd.grad(
                out, (query, key, value), gradient, retain_graph=True))
    return {"time_us": took.median, "kernel": kernel}, took


def compiled(torch: Any, work: Any) -> Any:
    """By itself: PyTorch gives up on a function that it was given in too many versions."""
    torch._dynamo.reset()
    return torch.compile(work)


def memory_operation(device: Device, name: str, rows: int, width: int) -> tuple[Callable[[], Any], int]:
    """The work, and the bytes that it must move: bf16 data, indices of 8 bytes."""
    torch, functional = device.torch, device.torch.nn.functional
    if name.startswith("compiled_"):
        work, moved = memory_operation(device, name.removeprefix("compiled_"), rows, width)
        return compiled(torch, work), moved
    if name.startswith("cast_") or name in ("rotary", "gather_rows"):
        return plain_operation(device, name, rows, width)
    backward, base = name.endswith("_backward"), name[:-9] if name.endswith("_backward") else name
    elements = 2 * rows * width
    if base in ("embedding", "cross_entropy"):
        index = torch.randint(width, (rows,), device=device.device)
        if base == "embedding":  # a table of so many rows, each of 1024
            table = device.random(width, 1024, grad=backward)
            moved = rows * (8 + 4 * 1024) + (2 * width * 1024 if backward else 0)
            forward = lambda: functional.embedding(index, table)  # noqa: E731
            inputs = [table]
        else:
            logits = device.random(rows, width, grad=backward)
            moved = elements * (2 if backward else 1) + 8 * rows
            forward = lambda: functional.cross_entropy(logits.float(), index)  # noqa: E731
            inputs = [logits]
    elif base in ("layer_norm", "rms_norm"):
        data, weight = device.random(rows, width, grad=backward), device.random(width, grad=backward)
        moved, inputs = elements * (3 if backward else 2), [data, weight]
        if base == "layer_norm":
            forward = lambda: functional.layer_norm(data, (width,), weight)  # noqa: E731
        else:
            forward = lambda: rms_norm(torch, data, weight)  # noqa: E731
    elif base == "swiglu":
        gate, up = device.random(rows, width, grad=backward), device.random(rows, width, grad=backward)
        moved, inputs = elements * (5 if backward else 3), [gate, up]
        forward = lambda: functional.silu(gate) * up  # noqa: E731
    elif base in ("add", "dropout_add"):
        data, other = device.random(rows, width), device.random(rows, width)
        moved, inputs = elements * 3, []
        forward = (lambda: data + other) if base == "add" else \
            (lambda: functional.dropout(data, 0.1, training=True) + other)
    else:  # softmax, gelu
        data = device.random(rows, width, grad=backward)
        moved, inputs = elements * (3 if backward else 2), [data]
        forward = (lambda: functional.gelu(data, approximate="tanh")) if base == "gelu" else \
            (lambda: functional.softmax(data, dim=-1))
    if not backward:
        return forward, moved
    out = forward()
    gradient = torch.ones_like(out)
    return lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True), moved


def plain_operation(device: Device, name: str, rows: int, width: int) -> tuple[Callable[[], Any], int]:
    """Operations without gradients: casts to fp8 by how they are scaled, rotary positions, rows by index."""
    torch, elements = device.torch, rows * width
    data = device.random(rows, width)
    if name == "gather_rows":
        index = torch.randperm(rows, device=device.device)
        return lambda: data.index_select(0, index), 4 * elements + 8 * rows
    if name == "rotary":
        angle = device.random(rows, width // 2, dtype="fp32")
        cosine, sine = angle.cos().to(data.dtype), angle.sin().to(data.dtype)

        def rotate() -> Any:
            first, second = data.chunk(2, dim=-1)
            return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)

        return rotate, 6 * elements
    kind = device.dtype("fp8")
    largest = torch.finfo(kind).max
    scale = torch.ones((), device=device.device)

    def cast(scaled_by: Any) -> Any:
        return (data * scaled_by).clamp(-largest, largest).to(kind)

    if name == "cast_fp8":  # by the scale of an earlier step
        return lambda: cast(scale), 3 * elements
    if name == "cast_fp8_transposed":  # and its transpose, which gradients of weights read
        def both() -> Any:
            narrow = cast(scale)
            return narrow, narrow.t().contiguous()

        return both, 4 * elements
    if name == "cast_fp8_current":  # read for the largest, then again for the cast
        return lambda: cast(largest / data.abs().amax().float().clamp(min=1e-12)), 5 * elements
    blocks = data.view(rows, -1, min(width, 128))

    def by_blocks() -> Any:
        scales = largest / blocks.abs().amax(dim=-1, keepdim=True).float().clamp(min=1e-12)
        return (blocks * scales).to(kind), scales

    return by_blocks, 3 * elements + 4 * elements // min(width, 128)


def optimizer_operation(device: Device, name: str, parameters: int) -> tuple[Callable[[], Any], int]:
    """Over tensors of at most 4 million parameters, as the matrices of a layer are."""
    torch = device.torch
    operation, precision = name.rsplit("_", 1)
    sizes = [4_000_000] * (parameters // 4_000_000) + [parameters % 4_000_000 or 1]
    tensors = [device.random(size, dtype=precision, grad=True) for size in sizes]
    for tensor in tensors:
        tensor.grad = torch.randn_like(tensor)
    width = {"fp32": 4, "bf16": 2}[precision]
    if operation == "clip_grad_norm":  # read for the norm, read and written for the scale
        return lambda: torch.nn.utils.clip_grad_norm_(tensors, 1.0), 3 * width * parameters
    if not device.on_gpu:
        kind = {}
    else:
        kind = {"fused": True} if operation == "adamw_fused" else {"foreach": True}
    optimizer = torch.optim.AdamW(tensors, lr=1e-4, **kind)
    optimizer.step()  # makes the state
    return optimizer.step, 7 * width * parameters  # gradient read; weight and two moments read, written


def copy_operation(device: Device, name: str, size: int) -> tuple[Callable[[], Any], int]:
    torch = device.torch

    def empty(where: Any, pinned: bool = False) -> Any:
        return torch.zeros(size, dtype=torch.int8, device=where, pin_memory=pinned and device.on_gpu)

    target = empty("cpu", True) if name == "copy_device_to_host" else empty(device.device)
    if name == "fill":
        return lambda: target.fill_(1), size
    source = empty("cpu", True) if name == "copy_host_to_device" else empty(device.device)
    return lambda: target.copy_(source, non_blocking=True), size * (2 if name == "copy" else 1)


def measure_memory(device: Device, shape: Row) -> tuple[Row, Sample]:
    name = shape["operation"]
    if "_parameters" in shape:
        work, moved = optimizer_operation(device, name, shape["_parameters"])
        # Optimizers keep their step count in ways that a graph cannot replay.
        took = device.time(work, graphs=False)
    elif "_size" in shape:
        work, moved = copy_operation(device, name, shape["_size"])
        took = device.time(work)
    else:
        work, moved = memory_operation(device, name, shape["_rows"], shape["_width"])
        took = device.time(work)
    return {"bytes": moved, "time_us": took.median}, took


def measure_launch(device: Device, shape: Row) -> tuple[Row, Sample]:
    torch, quantity = device.torch, shape["quantity"]
    if "_model" in shape:
        return measure_host_of_layer(device, shape)
    if "_kind" in shape:
        return measure_host_of_kind(device, shape)
    calls = shape["kernels"]
    one = torch.zeros(1, device=device.device)

    def kernels() -> None:
        for _ in range(calls):
            one.add_(1)

    def host_seconds(work: Callable[[], Any]) -> float:
        device.synchronize()
        began = time.perf_counter()
        work()
        took = time.perf_counter() - began
        device.synchronize()
        return took

    kernels()
    replay = device.capture(lambda: one.add_(1), calls) if "graph" in quantity else None
    if "graph" in quantity and replay is None:
        raise Skipped("no CUDA graphs here")
    work = replay or kernels
    work()
    clock = host_seconds if quantity.startswith("host") else device.seconds
    share = 1 if quantity == "host_per_graph" else calls
    took = sample([clock(work) / share * 1e6 for _ in range(max(5, device.options.repeats))],
                  "graph" if replay else "eager")
    return {"time_us": took.median}, took


@contextlib.contextmanager
def process_group(torch: Any, device: Device) -> Iterator[None]:
    """Of this process alone."""
    with tempfile.TemporaryDirectory() as scratch:
        torch.distributed.init_process_group("nccl" if device.on_gpu else "gloo", rank=0, world_size=1,
                                             init_method=f"file://{scratch}/meeting")
        try:
            yield
        finally:
            torch.distributed.destroy_process_group()


def call_of_kind(device: Device, kind: str) -> Callable[[], Any]:
    """One operation over so little data that the host is what takes time."""
    torch, functional = device.torch, device.torch.nn.functional
    data, other = device.random(64, 64), device.random(64, 64)
    graded = device.random(64, 64, grad=True)
    if kind.startswith("optimizer_"):  # per tensor
        tensors = [device.random(64, 64, dtype="fp32", grad=True) for _ in range(100)]
        for tensor in tensors:
            tensor.grad = torch.randn_like(tensor)
        how = {"fused": {"fused": device.on_gpu}, "foreach": {"foreach": True},
               "single": {"foreach": False}}[kind.removeprefix("optimizer_")]
        return torch.optim.AdamW(tensors, **how).step
    index = torch.arange(64, device=device.device)
    heads = device.random(1, 1, 64, 64)
    simple = {
        "add": lambda: data.add(other),
        "linear": lambda: functional.linear(data, other),
        "layer_norm": lambda: functional.layer_norm(data, (64,)),
        "softmax": lambda: functional.softmax(data, dim=-1),
        "attention": lambda: functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True),
        "index": lambda: data.index_select(0, index),
        "sort": lambda: index.argsort(),
        "cast": lambda: data.to(torch.float32),
        "view": lambda: data.view(-1),
        "empty": lambda: torch.empty_like(data),
        "wait": lambda: index[0].item(),
        "all_reduce": lambda: torch.distributed.all_reduce(data),
    }
    if kind in simple:
        return simple[kind]
    if kind == "linear_with_gradient":
        gradient = torch.ones_like(data)
        return lambda: torch.autograd.grad(functional.linear(data, graded), (graded,), gradient)
    if kind == "compiled":
        work = compiled(torch, lambda left, right: functional.gelu(left + right))
        return lambda: work(data, other)
    if kind == "grouped_product":
        stack, ends = device.random(4, 64, 64), torch.tensor([16, 32, 48, 64], device=device.device,
                                                            dtype=torch.int32)
        return lambda: torch._grouped_mm(data, stack, offs=ends)
    narrow, one = data.to(device.dtype("fp8")), torch.ones((), device=device.device)
    return lambda: torch._scaled_mm(narrow, narrow.t(), scale_a=one, scale_b=one,
                                    out_dtype=torch.bfloat16)


def measure_host_of_kind(device: Device, shape: Row) -> tuple[Row, Sample]:
    """What the host takes to ask for it, the device being free; a wait holds the way there and back."""
    kind = shape["_kind"]
    share = 100 if kind.startswith("optimizer_") else 1  # tensors of a call
    calls = 20 if share > 1 else 200
    with process_group(device.torch, device) if kind == "all_reduce" else contextlib.nullcontext():
        work = call_of_kind(device, kind)
        figures = []
        for _ in range(2 + max(5, device.options.repeats)):
            device.synchronize()
            began = time.perf_counter()
            for _ in range(calls):
                work()
            figures.append((time.perf_counter() - began) / calls / share * 1e6)
            device.synchronize()
    took = sample(figures[2:], "host clock")
    return {"time_us": took.median}, took


class Experts:
    """A dropless layer of experts on one device, by part; weights of gate and up in one."""

    def __init__(self, device: Device, shape: Row) -> None:
        torch, self.torch, self.shape = device.torch, device.torch, shape
        tokens, hidden, ffn, experts = (shape[key] for key in ("tokens", "hidden", "ffn", "experts"))
        self.data = device.random(tokens, hidden, grad=True)
        self.gate = device.random(experts, hidden, grad=True)
        self.wide = (device.random(experts, hidden, 2 * ffn) * hidden ** -0.5).requires_grad_()
        self.narrow = (device.random(experts, ffn, hidden) * ffn ** -0.5).requires_grad_()
        self.weights = [self.gate, self.wide, self.narrow]
        order, weights, counts = self.route(self.data)
        self.order, self.share, self.counts = order, weights.detach(), counts
        self.rows = self.permute(self.data, order).detach().requires_grad_()

    def route(self, data: Any) -> tuple[Any, Any, Any]:
        """Copies sorted by expert, their weights, and how many each expert has: the balanced choice
        that benchmarks force, after all the work of a free one."""
        torch, topk, experts = self.torch, self.shape["topk"], self.shape["experts"]
        scores = torch.nn.functional.linear(data, self.gate).float().softmax(dim=-1)
        weights, chosen = scores.topk(topk, dim=-1)
        places = torch.arange(chosen.numel(), device=data.device) % experts
        balanced = chosen.flatten() * 0 + places
        counts = torch.zeros(experts, device=data.device, dtype=torch.int64)
        counts.scatter_add_(0, balanced, torch.ones_like(balanced))
        return balanced.argsort(stable=True), weights.to(data.dtype).flatten(), counts

    def permute(self, data: Any, order: Any) -> Any:
        return data.index_select(0, order // self.shape["topk"])

    def unpermute(self, rows: Any, order: Any, weights: Any) -> Any:
        out = self.torch.zeros(self.shape["tokens"], rows.shape[-1], device=rows.device, dtype=rows.dtype)
        return out.index_add(0, order // self.shape["topk"], rows * weights[order].unsqueeze(-1))

    def activation(self, wide: Any) -> Any:
        gate, up = wide.chunk(2, dim=-1)
        return self.torch.nn.functional.silu(gate) * up

    def products(self, rows: Any, counts: Any) -> Any:
        torch, kind = self.torch, self.shape["kind"]
        if kind == "grouped":
            ends = counts.cumsum(0).to(torch.int32)
            return torch._grouped_mm(self.activation(torch._grouped_mm(rows, self.wide, offs=ends)),
                                     self.narrow, offs=ends)
        if kind == "padded":
            experts = self.shape["experts"]
            capacity = -(-rows.shape[0] // experts)
            room = torch.nn.functional.pad(rows, (0, 0, 0, capacity * experts - rows.shape[0]))
            done = torch.bmm(self.activation(torch.bmm(room.view(experts, capacity, -1), self.wide)),
                             self.narrow)
            return done.flatten(0, 1)[:rows.shape[0]]
        parts = rows.split(counts.tolist())  # the host waits for the counts
        return torch.cat([self.activation(part @ wide) @ narrow
                          for part, wide, narrow in zip(parts, self.wide, self.narrow)])

    def layer(self, data: Any) -> Any:
        order, weights, counts = self.route(data)
        return self.unpermute(self.products(self.permute(data, order), counts), order, weights)

    def part(self, name: str) -> tuple[Callable[[], Any], list[Any]]:
        """The forward work, and what its gradients are of."""
        if name == "router":
            return lambda: self.route(self.data)[1], [self.data, self.gate]
        if name == "permute":
            return lambda: self.permute(self.data, self.order), [self.data]
        if name == "products":
            return lambda: self.products(self.rows, self.counts), [self.rows, self.wide, self.narrow]
        if name == "unpermute":
            return lambda: self.unpermute(self.rows, self.order, self.share), [self.rows]
        return lambda: self.layer(self.data), [self.data, *self.weights]


def measure_experts(device: Device, shape: Row) -> tuple[Row, Sample]:
    torch = device.torch
    forward, inputs = Experts(device, shape).part(shape["part"])
    work = forward
    if shape["pass"] == "backward":
        out = forward()
        gradient = torch.ones_like(out)

        def work() -> Any:
            return torch.autograd.grad(out, inputs, gradient, retain_graph=True)
    waits = shape["kind"] == "loop" and shape["part"] in ("products", "layer")
    took = device.time(work, graphs=not waits)
    figures = []
    for _ in range(max(5, device.options.repeats)):
        device.synchronize()
        began = time.perf_counter()
        work()
        figures.append((time.perf_counter() - began) * 1e6)
    device.synchronize()
    return {"time_us": took.median, "host_us": statistics.median(figures),
            "kernels": count_launches(device, work)}, took


def count_launches(device: Device, work: Callable[[], Any]) -> Any:
    """Kernels of the work, counted by the profiler; nothing where it sees none."""
    if not device.on_gpu:
        return ""
    torch = device.torch
    device.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        device.synchronize()
    device_type = torch.autograd.DeviceType.CUDA
    return sum(1 for event in profile.events() if event.device_type == device_type) or ""


def measure_host_of_layer(device: Device, shape: Row) -> tuple[Row, Sample]:
    """A layer over 16 tokens: the device waits for the host, so this is the host's time."""
    torch = device.torch
    layer, data, _ = make_layer(torch, device, shape["_model"], "bf16" if device.on_gpu else "fp32")
    gradient = torch.randn_like(data)
    backward = "backward" in shape["quantity"]
    figures = []
    for _ in range(device.options.warm_up + max(5, device.options.repeats)):
        device.synchronize()
        began = time.perf_counter()
        out = layer(data)
        if backward:
            device.synchronize()
            began = time.perf_counter()
            out.backward(gradient)
        device.synchronize()
        figures.append((time.perf_counter() - began) * 1e6)
    took = sample(figures[device.options.warm_up:], "host clock, whole pass")
    out = layer(data) if backward else None
    work = (lambda: out.backward(gradient)) if backward else (lambda: layer(data))
    return {"time_us": took.median, "kernels": count_launches(device, work)}, took


# --- The models: as small as they can be, and no library's ------------------------------------------


def rms_norm(torch: Any, data: Any, weight: Any) -> Any:
    functional = torch.nn.functional
    if hasattr(functional, "rms_norm"):
        return functional.rms_norm(data, (data.shape[-1],), weight, 1e-5)
    wide = data.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(data.dtype) * weight


def model_classes(torch: Any) -> tuple[Any, Any]:
    """The classes of a layer and of a language model; inside a function, since PyTorch comes late."""
    nn, functional = torch.nn, torch.nn.functional

    class RmsNorm(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, data: Any) -> Any:
            return rms_norm(torch, data, self.weight)

    class Layer(nn.Module):
        """Pre-norm: attention, then feed-forward. GPT: LayerNorm, biases, GELU. Llama: RMSNorm,
        rotary positions, grouped queries, SwiGLU."""

        def __init__(self, model: Model) -> None:
            super().__init__()
            norm = RmsNorm if model.gated else nn.LayerNorm
            bias = not model.gated
            self.model = model
            kv_width = model.kv_heads * model.head_dim
            self.norm_attention, self.norm_ffn = norm(model.hidden), norm(model.hidden)
            self.qkv = nn.Linear(model.hidden, model.hidden + 2 * kv_width, bias=bias)
            self.out = nn.Linear(model.hidden, model.hidden, bias=bias)
            self.up = nn.Linear(model.hidden, (2 if model.gated else 1) * model.ffn, bias=bias)
            self.down = nn.Linear(model.ffn, model.hidden, bias=bias)
            if model.gated:
                frequency = 10000.0 ** (-torch.arange(0, model.head_dim, 2) / model.head_dim)
                angle = torch.outer(torch.arange(model.seq), frequency)
                self.register_buffer("cosine", angle.cos(), persistent=False)
                self.register_buffer("sine", angle.sin(), persistent=False)

        def rotate(self, data: Any) -> Any:
            first, second = data.chunk(2, dim=-1)
            cosine, sine = self.cosine.to(data.dtype), self.sine.to(data.dtype)
            return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)

        def attention(self, data: Any) -> Any:
            model = self.model
            batch, seq, _ = data.shape
            kv_width = model.kv_heads * model.head_dim
            query, key, value = (part.view(batch, seq, -1, model.head_dim).transpose(1, 2) for part in
                                 self.qkv(data).split((model.hidden, kv_width, kv_width), dim=-1))
            if model.gated:
                query, key = self.rotate(query), self.rotate(key)
            if model.kv_heads != model.heads:  # expanded, so that every version has a flash kernel
                key, value = (part.repeat_interleave(model.heads // model.kv_heads, dim=1)
                              for part in (key, value))
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            return self.out(mixed.transpose(1, 2).reshape(batch, seq, model.hidden))

        def feed_forward(self, data: Any) -> Any:
            wide = self.up(data)
            if self.model.gated:
                gate, up = wide.chunk(2, dim=-1)
                return self.down(functional.silu(gate) * up)
            return self.down(functional.gelu(wide, approximate="tanh"))

        def forward(self, data: Any) -> Any:
            data = data + self.attention(self.norm_attention(data))
            return data + self.feed_forward(self.norm_ffn(data))

    class Language(nn.Module):
        def __init__(self, model: Model) -> None:
            super().__init__()
            self.embedding = nn.Embedding(model.vocab, model.hidden)
            self.position = None if model.gated else nn.Embedding(model.seq, model.hidden)
            self.layers = nn.ModuleList([Layer(model) for _ in range(model.layers)])
            self.norm = (RmsNorm if model.gated else nn.LayerNorm)(model.hidden)
            self.head = nn.Linear(model.hidden, model.vocab, bias=False)
            if not model.gated:
                self.head.weight = self.embedding.weight  # tied, as in GPT

        def forward(self, tokens: Any) -> Any:
            data = self.embedding(tokens)
            if self.position is not None:
                data = data + self.position.weight
            for layer in self.layers:
                data = layer(data)
            logits = self.head(self.norm(data))[:, :-1].flatten(0, 1)
            return functional.cross_entropy(logits.float(), tokens[:, 1:].flatten())

    return Layer, Language


def parameter_type(torch: Any, precision: str) -> Any:
    """amp_x keeps the parameters in fp32 and casts as it goes."""
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)


def make_layer(torch: Any, device: Device, model: Model, precision: str) -> tuple[Any, Any, Any]:
    kind = parameter_type(torch, precision)
    layer = model_classes(torch)[0](model).to(device.device, kind)
    data = torch.randn(model.batch, model.seq, model.hidden, device=device.device, dtype=kind,
                       requires_grad=True)
    return layer, data, torch.randn_like(data)


def make_language(torch: Any, device: Device, model: Model, precision: str) -> tuple[Any, Any]:
    language = model_classes(torch)[1](model).to(device.device, parameter_type(torch, precision))
    tokens = torch.randint(model.vocab, (model.batch, model.seq), device=device.device)
    return language, tokens


class Training:
    """Forward, backward and optimizer of a model, each timed by events on either side."""

    def __init__(self, device: Device, shape: Row) -> None:
        torch, model = device.torch, shape["_model"]
        self.device, self.torch, self.flash = device, torch, bool(shape["flash"])
        precision = shape["precision"]
        self.cast = contextlib.nullcontext
        if precision.startswith("amp_"):
            self.cast = lambda: torch.autocast(device.device.type, dtype=device.dtype(precision[4:]))
        if model.vocab:
            self.module, self.data = make_language(torch, device, model, precision)
            self.gradient = None
        else:
            self.module, self.data, self.gradient = make_layer(torch, device, model, precision)
        self.run = compiled(torch, self.module) if shape["compile"] else self.module
        fused = {"fused": True} if device.on_gpu else {}
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-4, **fused)

    def forward(self) -> Any:
        with self.cast():
            return self.run(self.data)

    def step(self, mark: Callable[[], None] = lambda: None) -> Any:
        mark()
        out = self.forward()
        mark()
        out.backward(None if self.gradient is None else self.gradient.to(out.dtype))
        mark()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.gradient is not None:
            self.data.grad = None
        mark()
        return out

    def time(self) -> list[list[float]]:
        """Microseconds of forward, backward, optimizer and step, of each repeat."""
        device, options = self.device, self.device.options
        for _ in range(max(2, options.warm_up)):
            self.step()
        device.synchronize()
        rows = []
        for _ in range(options.repeats):
            marks: list[Any] = []
            if device.on_gpu:
                def mark() -> None:
                    marks.append(self.torch.cuda.Event(enable_timing=True))
                    marks[-1].record()
            else:
                def mark() -> None:
                    marks.append(time.perf_counter())
            self.step(mark)
            rows.append(marks)
        device.synchronize()

        def between(begin: Any, end: Any) -> float:
            return begin.elapsed_time(end) * 1e3 if device.on_gpu else (end - begin) * 1e6

        # A step lasts until the next one begins, host gaps included; the last one until its end.
        starts = [marks[0] for marks in rows[1:]] + [rows[-1][3]]
        return [[between(marks[0], marks[1]), between(marks[1], marks[2]), between(marks[2], marks[3]),
                 between(marks[0], start)] for marks, start in zip(rows, starts)]


def measure_model(device: Device, shape: Row) -> tuple[Row, Sample]:
    torch = device.torch
    device.forget()
    if device.on_gpu:
        torch.cuda.reset_peak_memory_stats()
    with attention_kernel(device, "sdpa_flash" if shape["flash"] else "math"):
        parts = Training(device, shape).time()
    forward, backward, optimizer, step = (statistics.median(part) for part in zip(*parts))
    peak = torch.cuda.max_memory_allocated() if device.on_gpu else 0
    return ({"forward_us": forward, "backward_us": backward, "optimizer_us": optimizer, "step_us": step,
             "peak_memory_bytes": peak}, sample([part[3] for part in parts], "eager, host gaps included"))


def save_trace(device: Device, shape: Row, folder: pathlib.Path, steps: int = 2) -> Row:
    torch, model = device.torch, shape["_model"]
    precision = "bf16" if device.on_gpu else "fp32"
    training = Training(device, {"_model": model, "precision": precision, "flash": 1, "compile": 0})
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if device.on_gpu else []
    with attention_kernel(device, "sdpa_flash"):
        for _ in range(3):
            training.step()
        device.synchronize()
        with torch.profiler.profile(activities=kinds, record_shapes=True) as profile:
            for number in range(steps):
                with torch.profiler.record_function(f"training_step#{number}"):
                    training.step()
            device.synchronize()
    name = f"trace_{model.name}.json.gz"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        plain, packed = pathlib.Path(scratch, "trace.json"), pathlib.Path(scratch, name)
        profile.export_chrome_trace(str(plain))
        with plain.open("rb") as source, gzip.open(packed, "wb") as target:
            shutil.copyfileobj(source, target)
        os.replace(packed, folder / name)
    return {"file": name, "steps": steps}


def measure_sustained(device: Device, shape: Row, seconds: float) -> list[Row]:
    """The same product for so long, one row a second: where clocks and power settle."""
    torch = device.torch
    a, b = device.random(shape["m"], shape["k"]), device.random(shape["n"], shape["k"])
    out = torch.empty(shape["m"], shape["n"], dtype=a.dtype, device=device.device)

    def second() -> None:
        for _ in range(calls):
            torch.mm(a, b.t(), out=out)

    calls = 3
    second()
    calls = max(1, int(3 / max(device.seconds(second), 1e-6)))
    rows: list[Row] = []
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        took = device.seconds(second) / calls * 1e6
        state = device.state()
        rows.append(dict(shape, second=f"{time.monotonic() - began:.1f}", time_us=took,
                         clock_mhz=state["clocks.sm"], power_w=state["power.draw"],
                         temperature_c=state["temperature.gpu"]))
    return rows


# --- Collectives: one process per device ------------------------------------------------------------

PATIENCE = datetime.timedelta(hours=4)  # of ranks outside a group, until it is measured


def bus_share(op: str, ranks: int) -> float:
    """Bus over algorithm bandwidth, as nccl-tests counts it."""
    if op == "sendrecv":
        return 1.0
    return (2 if op == "all_reduce" else 1) * (ranks - 1) / ranks


def collective(torch: Any, device: Any, op: str, size: int, kind: Any, group: Any,
               ranks: int) -> tuple[Callable[[], Any], int]:
    """The call, and the bytes that it handles: the whole buffer, as nccl-tests counts it."""
    distributed = torch.distributed
    width = torch.empty((), dtype=kind).element_size()
    count = max(1, size // (width * ranks))  # elements of a rank's part
    part = torch.zeros(count, dtype=kind, device=device)
    whole = torch.zeros(count * ranks, dtype=kind, device=device)
    moved = whole.numel() * width
    if op == "all_reduce":
        return lambda: distributed.all_reduce(whole, group=group), moved
    if op == "all_gather":
        return lambda: distributed.all_gather_into_tensor(whole, part, group=group), moved
    if op == "reduce_scatter":
        return lambda: distributed.reduce_scatter_tensor(part, whole, group=group), moved
    if op == "alltoall":
        other = torch.empty_like(whole)
        return lambda: distributed.all_to_all_single(other, whole, group=group), moved
    rank = distributed.get_rank()
    target = torch.empty_like(whole)

    def exchange() -> None:  # to the next rank of a ring, from the one before
        calls = [distributed.P2POp(distributed.isend, whole, (rank + 1) % ranks, group),
                 distributed.P2POp(distributed.irecv, target, (rank - 1) % ranks, group)]
        for request in distributed.batch_isend_irecv(calls):
            request.wait()

    return exchange, moved


def time_collective(device: Device, work: Callable[[], Any], group: Any) -> Sample:
    """Every rank does the same number of calls; the slowest rank counts."""
    torch, options = device.torch, device.options
    for _ in range(options.warm_up):
        work()
    calls = 20
    figures = []
    for _ in range(options.repeats):
        torch.distributed.barrier(group=group)
        device.synchronize()
        took = device.seconds(lambda: [work() for _ in range(calls)]) / calls * 1e6
        slowest = torch.tensor([took], device=device.device, dtype=torch.float64)
        torch.distributed.all_reduce(slowest, op=torch.distributed.ReduceOp.MAX, group=group)
        figures.append(float(slowest))
    return sample(figures, "eager, slowest rank")


def measure_group(device: Device, ranks: int, group: Any, options: argparse.Namespace,
                  node_ranks: int) -> tuple[list[Row], list[str]]:
    torch = device.torch
    first = torch.distributed.get_rank() == 0
    shapes = collective_shapes(options, ranks)
    progress = Progress(f"collectives of {ranks}", len(shapes))
    rows: list[Row] = []
    skipped: list[str] = []
    room = torch.cuda.get_device_properties(device.device).total_memory if device.on_gpu else 2**40
    for shape in shapes:
        op, size = shape["op"], shape["size_bytes"]
        try:
            if 3 * size > 0.8 * room:  # all ranks must agree, so not by running out of memory
                raise Skipped("larger than a device holds")
            work, moved = collective(torch, device.device, op, size, device.dtype(shape["dtype"]), group,
                                     ranks)
            took = time_collective(device, work, group)
        except (Skipped, RuntimeError, NotImplementedError, ValueError) as error:
            skipped.append(reason(shape, error))
            continue
        rate = moved / took.median / 1e3
        rows.append(dict(shape, size_bytes=moved, time_us=took.median, algbw_GBps=rate,
                         busbw_GBps=rate * bus_share(op, ranks), nnodes=-(-ranks // node_ranks),
                         hardware=device.name, interconnect=options.interconnect,
                         source=f"measure_gpu.py, {device.software}",
                         notes="out-of-place" if op in ("all_gather", "reduce_scatter") else "",
                         _spread=spread_row("collectives", shape, took)))
        if first:
            progress.step(label(shape))
    return rows, skipped


def collective_worker(rank: int, world: int, node_ranks: int, options: argparse.Namespace,
                      meeting: Optional[str], results: Optional[str]) -> None:
    """One rank. Rank 0 leaves what was measured in the file results."""
    torch = load_torch()
    gpu = torch.cuda.is_available() and not options.self_test
    if gpu:
        torch.cuda.set_device(rank % node_ranks)
    where: Row = {"init_method": meeting, "rank": rank, "world_size": world} if meeting else {}
    where["timeout"] = PATIENCE if gpu else datetime.timedelta(minutes=1)
    torch.distributed.init_process_group("nccl" if gpu else "gloo", **where)
    try:
        device = Device(torch, options)
        found: Row = {"rows": [], "skipped": []}
        sizes = sorted({min(2**power, world) for power in range(1, world.bit_length() + 1)} | {world})
        for ranks in sizes:
            group = torch.distributed.new_group(list(range(ranks)))
            if rank < ranks:
                rows, skipped = measure_group(device, ranks, group, options, node_ranks)
                found["rows"] += rows
                found["skipped"] += skipped
            torch.distributed.barrier()
        if rank == 0 and results:
            write_whole(pathlib.Path(results), json.dumps(found))
    finally:
        torch.distributed.destroy_process_group()


def run_collectives(torch: Any, options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Spawns a rank per device of this machine; under torchrun this process is one rank of many."""
    with tempfile.TemporaryDirectory() as scratch:
        results = os.path.join(scratch, "results.json")
        if "WORLD_SIZE" in os.environ:
            rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
            node_ranks = int(os.environ.get("LOCAL_WORLD_SIZE", world))
            collective_worker(rank, world, node_ranks, options, None, results)
            if rank != 0:
                return [], []
        else:
            devices = 2 if options.self_test else torch.cuda.device_count()
            if devices < 2:
                return [], ["collectives need two devices or more"]
            meeting = "file://" + os.path.join(scratch, "meeting")
            torch.multiprocessing.spawn(collective_worker, nprocs=devices,
                                        args=(devices, devices, options, meeting, results))
        with open(results, encoding="utf-8") as file:
            found = json.load(file)
    return found["rows"], found["skipped"]


# --- The run ----------------------------------------------------------------------------------------

MEASURES = {"gemm": measure_gemm, "attention": measure_attention,
            "attention_backward": measure_attention, "memory": measure_memory,
            "launch": measure_launch, "experts": measure_experts, "layers": measure_model, "steps": measure_model}


def spread_row(table: str, shape: Row, took: Sample) -> Row:
    return {"table": table, "shape": label(shape), "fastest_us": took.fastest, "median_us": took.median,
            "slowest_us": took.slowest, "repeats": took.repeats, "how": took.how}


def reason(shape: Row, error: Exception) -> str:
    return f"{label(shape)}: {(str(error) or type(error).__name__).splitlines()[0]}"


def measure_table(device: Device, table: str,
                  options: argparse.Namespace) -> tuple[list[Row], list[Row], list[str]]:
    """Rows, their spread, and the shapes left out with the reason."""
    rows: list[Row] = []
    spread: list[Row] = []
    skipped: list[str] = []
    shapes = shapes_of(table, options)
    progress = Progress(table, len(shapes))
    for shape in shapes:
        measured = len(rows)
        try:
            with device.work():
                row, took = MEASURES[table](device, shape)
            rows.append(dict(shape, software=device.software, **row))
            spread.append(spread_row(table, shape, took))
        except Exception as error:  # out of memory, or no such kernel: the others can be measured
            if "CUDA error" in str(error):
                raise  # the device is lost to this process
            skipped.append(reason(shape, error))
        if len(rows) == measured:  # not in the handler, where the error still holds the tensors
            device.forget()
        progress.step(label(shape))
    return rows, spread, skipped


class Folder:
    """What --out holds: tables, their spread, and the conditions under which each was measured."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.conditions: Row = {}
        known = path / "conditions.json"
        if known.is_file():
            try:
                self.conditions = dict(json.loads(known.read_text(encoding="utf-8")))
            except (ValueError, TypeError) as error:
                raise UserError(f"{known}: not what this script wrote ({error})") from error

    def has(self, table: str) -> bool:
        return table in self.conditions.get("tables", {})

    def begin(self, facts: Row, options: argparse.Namespace) -> None:
        mine = {key: facts[key] for key in ("device", "torch", "cuda")}
        here = {key: self.conditions.get(key) for key in mine}
        if self.conditions and here != mine:
            raise UserError(f"{self.path}: measured on {here}, this is {mine}; expected another --out")
        self.conditions = {**facts, "tables": self.conditions.get("tables", {}), "method": {
            "clock": "CUDA events around replays of a CUDA graph, so that launches do not count; around "
                     "eager calls where spread.csv says so",
            "figure": "median of the repeats; every repeat lasts min_time_ms or 1000 calls",
            "repeats": options.repeats, "warm_up": options.warm_up, "min_time_ms": options.min_time,
            "l2_flushed": options.flush_l2, "graphs": options.graphs, "grid": options.grid,
            "data": "normal random figures"}}

    def save(self, table: str, rows: list[Row], spread: list[Row], notes: Row) -> None:
        """The table first, then what says that it is there."""
        files = {f"{table}.csv"} if table not in ("collectives", "trace") else set()
        if table == "collectives":
            groups = sorted({(row["op"], row["nnodes"], row["ngpus"], row["dtype"]) for row in rows})
            for key in groups:
                name = "{0}_{1}n{2}gpu_{3}.csv".format(key[0].replace("_", ""), *key[1:])
                files.add(f"collectives/{name}")
                write_csv(self.path / "collectives" / name, HEADERS[table],
                          [row for row in rows
                           if (row["op"], row["nnodes"], row["ngpus"], row["dtype"]) == key])
        elif table == "trace":
            files = {row["file"] for row in rows}
        else:
            write_csv(self.path / f"{table}.csv", HEADERS[table], rows)
        for old in set(self.conditions["tables"].get(table, {}).get("files", [])) - files:
            with contextlib.suppress(FileNotFoundError):
                (self.path / old).unlink()
        kept = [row for row in read_csv(self.path / "spread.csv") if row["table"] != table]
        write_csv(self.path / "spread.csv", SPREAD_HEADER, kept + spread)
        self.conditions["tables"][table] = dict(notes, files=sorted(files))
        write_whole(self.path / "conditions.json", json.dumps(self.conditions, indent=2) + "\n")


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def run_table(device: Device, folder: Folder, table: str, options: argparse.Namespace) -> Row:
    notes: Row = {"began": now(), "state_before": device.state()}
    spread: list[Row] = []
    if table == "collectives":
        rows, skipped = run_collectives(device.torch, options)
        spread = [row.pop("_spread") for row in rows]
    elif table == "sustained":
        with device.work():
            rows, skipped = measure_sustained(device, dict(SUSTAINED_PRODUCT), options.sustained), []
    elif table == "trace":
        rows, skipped = [], []
        for shape in shapes_of(table, options):
            try:
                with device.work():
                    rows.append(save_trace(device, shape, folder.path))
            except RuntimeError as error:
                skipped.append(reason(shape, error))
            device.forget()
    else:
        rows, spread, skipped = measure_table(device, table, options)
    notes.update(ended=now(), state_after=device.state(), rows=len(rows), skipped=skipped)
    if rows:
        folder.save(table, rows, spread, notes)
    if options.rank == 0:
        what = f"{len(rows)} rows" if rows else "nothing measured"
        first = f", {len(skipped)} shapes left out, the first: {skipped[0]}" if skipped else ""
        print(f"{table}: {what}{first}", file=sys.stderr)
    return notes


def load_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise UserError(f"PyTorch is needed to measure, and this Python has none ({error}); "
                        "see https://pytorch.org, or try --dry-run") from error
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        raise UserError(f"PyTorch 2.0 or newer is needed, this is {torch.__version__}")
    return torch


def measure(options: argparse.Namespace, tables: Sequence[str]) -> Row:
    folder = Folder(pathlib.Path(options.out))
    held = [table for table in tables if folder.has(table)]
    if held and not options.resume and not options.overwrite:
        raise UserError(f"{options.out}: {', '.join(held)} measured already; expected --resume to keep "
                        "them, --overwrite to measure again, or another --out")
    torch = load_torch()
    if not torch.cuda.is_available() and not options.self_test:
        raise UserError("PyTorch sees no GPU here; expected one, or --dry-run, or --self-test")
    if "LOCAL_RANK" in os.environ and torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = Device(torch, options)
    if options.rank == 0:
        folder.begin(device.conditions(), options)
    done: Row = {}
    for table in tables:
        if options.resume and table in held:
            print(f"{table}: measured already, kept", file=sys.stderr)
            continue
        done[table] = run_table(device, folder, table, options)
    return done


def self_test(options: argparse.Namespace) -> None:
    """Every table over tiny shapes on the CPU: the figures mean nothing and are thrown away."""
    options.grid, options.precision, options.dtypes = "tiny", ["fp32"], ["bf16"]
    options.repeats, options.warm_up, options.min_time, options.sustained = 2, 1, 0.01, 0.05
    options.graphs, options.flush_l2, options.compile = False, False, False
    with tempfile.TemporaryDirectory() as out:
        options.out = out
        tables = [table for table in HEADERS if table != "sustained"]
        done = measure(options, tables)
        folder = pathlib.Path(out)
        for table, notes in done.items():
            files = sorted(folder.glob("collectives/*.csv")) if table == "collectives" else \
                sorted(folder.glob("trace_*.json.gz")) if table == "trace" else [folder / f"{table}.csv"]
            if not notes["rows"] or not files:
                raise AssertionError(f"{table}: nothing measured: {notes['skipped']}")
            if notes["skipped"] and table not in ("launch", "collectives"):  # no graphs, gloo
                raise AssertionError(f"{table}: {notes['skipped']}")
            if table == "trace":
                continue
            for file in files:
                if file.read_text(encoding="utf-8").splitlines()[0] != HEADERS[table]:
                    raise AssertionError(f"{file}: another header")
                times = [float(row[column]) for row in read_csv(file)
                         for column in ("time_us", "step_us") if column in row]
                if not times or min(times) < 0:
                    raise AssertionError(f"{file}: no time, or one below zero")
        options.resume = True
        if measure(options, tables):
            raise AssertionError("--resume measured a table again")
        total = sum(notes["rows"] for notes in done.values())
    print(f"self-test passed: {len(done)} tables, {total} rows of tiny shapes on the CPU, thrown away")


def dry_run(options: argparse.Namespace, tables: Sequence[str]) -> None:
    for table in tables:
        shapes = shapes_of(table, options)
        for shape in shapes:
            print(f"{table}: {label(shape)}")
        print(f"{table}: {len(shapes)} shapes", file=sys.stderr)


def parse(arguments: Optional[Sequence[str]]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--out", metavar="FOLDER", help="where the tables go; needed to measure")
    add("--only", metavar="TABLE,…", help="these tables (default: all but sustained)")
    add("--grid", choices=("quick", "standard"), default="standard",
        help="how many shapes: some minutes, or an hour or so (default)")
    add("--dtypes", metavar="TYPE,…", default="bf16,fp16,fp8",
        help="of products and attention (default: bf16,fp16,fp8; attention has no fp8)")
    add("--precision", metavar="WORD,…", default="bf16,amp_bf16",
        help="of layers and steps: bf16, fp16 (parameters and all), amp_bf16, amp_fp16 (fp32 parameters)")
    add("--compile", action="store_true", help="layers and steps also through torch.compile")
    add("--flush-l2", action="store_true", help="overwrite the L2 cache before every call")
    add("--no-graphs", dest="graphs", action="store_false", help="time eager calls, launches included")
    add("--repeats", type=int, default=9, metavar="N", help="the median of so many (default 9)")
    add("--warm-up", type=int, default=5, metavar="N", help="calls before that (default 5)")
    add("--min-time", type=float, default=10, metavar="MS", help="length of a repeat (default 10)")
    add("--sustained", type=float, metavar="SECONDS", default=0,
        help="loop one product for so long, and write how its time, the clock and the power settle")
    add("--interconnect", metavar="WORDS", default="",
        help="how the devices are linked, for the column of that name of the collectives")
    add("--resume", action="store_true", help="keep the tables that --out has; measure the others")
    add("--overwrite", action="store_true", help="measure tables again that --out has")
    add("--dry-run", action="store_true", help="print the shapes; needs neither PyTorch nor a GPU")
    add("--self-test", action="store_true", help="run everything tiny on the CPU; needs PyTorch only")
    options = parser.parse_args(arguments)
    options.rank = int(os.environ.get("RANK", "0"))

    def words(text: str, allowed: Iterable[str], option: str) -> list[str]:
        found = [word for word in text.split(",") if word]
        for word in found:
            if word not in allowed:
                parser.error(f"argument {option}: '{word}', expected some of {', '.join(allowed)}")
        return found

    options.dtypes = words(options.dtypes, ("bf16", "fp16", "fp8"), "--dtypes")
    options.precision = words(options.precision, ("bf16", "fp16", "amp_bf16", "amp_fp16"), "--precision")
    if min(options.repeats, options.warm_up, options.min_time) < 1 or options.sustained < 0:
        parser.error("--repeats, --warm-up and --min-time: expected 1 or more, --sustained 0 or more")
    default = [table for table in HEADERS if table != "sustained" or options.sustained]
    if "WORLD_SIZE" in os.environ:  # torchrun: the other tables need one process only
        default = ["collectives"]
    tables = words(options.only, HEADERS, "--only") if options.only else default
    if "sustained" in tables and not options.sustained and not options.dry_run:
        parser.error("--only sustained: expected --sustained SECONDS")
    if "WORLD_SIZE" in os.environ and tables != ["collectives"]:
        parser.error("under torchrun only the collectives are measured; expected --only collectives")
    if not (options.out or options.dry_run or options.self_test):
        parser.error("--out FOLDER is needed, or --dry-run, or --self-test")
    return options, tables


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options, tables = parse(arguments)
    try:
        if options.dry_run:
            dry_run(options, tables)
        elif options.self_test:
            load_torch()
            self_test(options)
        else:
            done = measure(options, tables)
            if options.rank == 0 and done and not any(notes["rows"] for notes in done.values()):
                return 1
    except UserError as error:
        print(f"measure_gpu.py: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `--dry-run | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("measure_gpu.py: stopped; finished tables are kept, --resume measures the others",
              file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

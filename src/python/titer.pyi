# The types of the module `titer`. InputError, the functions and __version__ exist when it runs; the
# dicts are described for type checkers only: import their names under `if TYPE_CHECKING`.

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from typing_extensions import NotRequired

__version__: str

class InputError(ValueError):
    """What was asked cannot be answered. `lines` has every mistake with its place, one each."""

    lines: list[str]

class Answer(dict[str, Any]):
    """What `--format json` prints, as a dict; and the same as text, CSV, a page of HTML or a pandas
    DataFrame. Notebooks show the page. `run` answers with one, too, whose keys Result has."""

    def text(self) -> str: ...
    def csv(self) -> str: ...
    def html(self) -> str: ...
    def frame(self) -> Any: ...  # pandas.DataFrame
    def _repr_html_(self) -> str: ...

_Fidelity = Literal["closed", "event", "network"]
_Progress = Callable[[int, int], object] | bool | None
_Kind = Literal[
    "models",
    "chips",
    "clusters",
    "networks",
    "stacks",
    "topologies",
    "runs",
    "sweeps",
    "searches",
    "courses",
    "capacities",
    "reports",
    "prices",
    "grids",
    "reliabilities",
]
_NameOrFile = str | os.PathLike[str]
_Files = _NameOrFile | Sequence[_NameOrFile]

def run(
    scenario: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    fidelity: _Fidelity | None = None,
) -> Result: ...
def check(
    scenario: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
) -> list[str]: ...
def sweep(
    sweep: _NameOrFile | Mapping[str, Any],
    jobs: int = 0,
    fidelity: _Fidelity | None = None,
    progress: _Progress = None,
) -> list[dict[str, Any]]: ...
def explain(
    scenario: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    fidelity: Literal["closed", "network"] = "closed",
) -> Answer: ...
def diff(
    a: _NameOrFile | Mapping[str, Any],
    b: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    fidelity: _Fidelity = "closed",
) -> Answer: ...
def sensitivity(
    scenario: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    of: str = "iteration_time_s",
    reach: str = "",
    fidelity: _Fidelity = "closed",
) -> Answer: ...
def tune(
    scenario: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    measured: str = "",
) -> Answer: ...
def search(
    search: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    refine: _Fidelity | None = None,
    jobs: int = 0,
    progress: _Progress = None,
) -> Answer: ...
def capacity(
    question: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    search: bool = False,
    jobs: int = 0,
    progress: _Progress = None,
) -> Answer: ...
def compare(
    table: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    search: bool = False,
    best_of: str = "all",
    jobs: int = 0,
    progress: _Progress = None,
) -> Answer: ...
def course(
    course: _NameOrFile | Mapping[str, Any],
    set: Mapping[str, Any] | None = None,
    fidelity: _Fidelity = "closed",
) -> Answer: ...
def ask(
    question: Mapping[str, Any],
    jobs: int = 0,
    progress: _Progress = None,
) -> Answer: ...
def validate(datasets: _Files, **options: Any) -> Answer: ...
def trace(files: _Files, **options: Any) -> Answer: ...
def calibrate(kind: Literal["chip", "network", "stack"], data: _Files, **options: Any) -> Answer: ...
def import_run(
    files: _Files,
    cluster: str = "",
    define: Mapping[str, str] | None = None,
    accept_unknown: bool = False,
) -> dict[str, Any]: ...
def names(kind: _Kind) -> list[str]: ...

class Result(TypedDict):
    """What `titer run --format json` prints. Seconds end in _s, bytes in _bytes."""

    format_version: int
    scenario: dict[str, Any]
    iteration_time_s: float
    tokens_per_s: float
    tokens_per_s_per_device: float
    model_tflops_per_device: float
    mfu: float
    mfu_causal: float
    hfu: float
    bubble_ratio: float
    bubble_overhead: float
    breakdown_s: Breakdown
    breakdown_stage: int
    comm_total_s: CommunicationTotal
    ranks: NotRequired[list[Rank]]  # where the step was simulated
    contention: NotRequired[Contention]  # with the fidelity network
    measured_runs: NotRequired[MeasuredRuns]  # of titer.run: the likest public ones
    limited_by: NotRequired[str]  # the ports that are narrower than the NICs
    algorithms: NotRequired[list[TakenAlgorithm]]  # on the links, where the closed form takes others
    event_iteration_time_s: NotRequired[float | None]  # where events differ; None: not followed
    memory: Memory
    error_bar: ErrorBar | None  # None where the software was not compared with measured runs
    grade: Literal["datasheet", "fitted", "extrapolated", "given"]
    notes: NotRequired[list[str]]  # what was assumed, or is beyond the named software

class Breakdown(TypedDict):
    """The iteration time as a sum; communication as far as it is exposed."""

    forward: float
    backward: float
    recompute: float
    optimizer: float
    tensor_comm: float
    context_comm: float
    expert_comm: float
    pipeline_comm: float
    data_comm: float
    host_comm: float
    input: float  # waiting for what hosts read and prepare
    bubble: float
    other: float

class CommunicationTotal(TypedDict):
    """Communication whether exposed or hidden beside compute."""

    tensor_comm: float
    context_comm: float
    expert_comm: float
    pipeline_comm: float
    data_comm: float
    host_comm: float

class Rank(TypedDict):
    """The device of a pipeline rank that finished last."""

    rank: int
    start_s: float
    end_s: float
    compute_s: float
    communication_s: float
    idle_s: float
    memory_peak_bytes: int
    memory_peak_s: float
    memory_peak_operation: str

class MeasuredRuns(TypedDict):
    like: str  # "same", "stack_and_chip", "stack", "chip" or "none"
    runs: int
    mean_error_pct: NotRequired[float]

class Contention(TypedDict):
    """Sets of transfers that met on links."""

    patterns_found: int
    patterns_known: int

class TakenAlgorithm(TypedDict):
    group: str
    collective: str
    bytes: float
    algorithm: str
    time_s: float
    by_closed_form: str
    by_closed_form_time_s: float

class Memory(TypedDict):
    """Of one device, at its peak."""

    peak_bytes: int
    capacity_bytes: int
    fits: bool
    peak_stage: int
    stages: list[StageMemory]
    advice: NotRequired[list[Advice]]  # where it does not fit

class StageMemory(TypedDict):
    """Of one device of a pipeline stage."""

    stage: int
    parameters: int
    weights_bytes: int
    gradients_bytes: int
    optimizer_bytes: int
    activations_bytes: int
    working_bytes: int
    buffers_bytes: int
    runtime_bytes: int
    total_bytes: int

class Advice(TypedDict):
    """Values to set, so that it fits, and what it takes then."""

    change: dict[str, Any]
    iteration_time_s: float
    peak_bytes: int

class ErrorBar(TypedDict):
    """Where a share of measured iterations is expected to be."""

    low_s: float
    high_s: float
    share: float

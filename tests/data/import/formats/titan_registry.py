from torchtitan.components.optimizer import OptimizersContainer
from torchtitan.config import ActivationCheckpointConfig, CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.trainer import Trainer

from . import model_registry


def llama3_8b_notes() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        optimizer=OptimizersContainer.Config(lr=1e-4),
        training=TrainingConfig(local_batch_size=4, seq_len=8192, steps=500),
        parallelism=ParallelismConfig(pipeline_parallel_degree=2),
        activation_checkpoint=ActivationCheckpointConfig(mode="full"),
        compile=CompileConfig(enable=True),
    )


def llama3_8b_notes_wide() -> Trainer.Config:
    config = llama3_8b_notes()
    config.parallelism.tensor_parallel_degree = 2
    return config

import nemo_run as run
from nemo.collections import llm


def configure(nodes: int = 2):
    recipe = llm.llama3_8b.pretrain_recipe(
        dir="/checkpoints",
        name="small",
        num_nodes=2,
        num_gpus_per_node=8,
    )
    recipe.trainer.strategy.tensor_model_parallel_size = 2
    recipe.trainer.strategy.pipeline_model_parallel_size = 1
    recipe.trainer.strategy.context_parallel_size = 1
    recipe.data.seq_length = 4096
    recipe.data.global_batch_size = 128
    recipe.data.micro_batch_size = 1
    return recipe

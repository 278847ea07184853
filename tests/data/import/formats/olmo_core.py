"""A run of OLMo-core, as its scripts are written."""
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.train.train_module import TransformerTrainModuleConfig

SEQUENCE_LENGTH = 2048


def build_config(opts, overrides):
    sequence_length = opts.sequence_length or SEQUENCE_LENGTH
    tokenizer_config = TokenizerConfig.dolma2()
    model_config = TransformerConfig.olmo2_1B_v2(
        vocab_size=tokenizer_config.padded_vocab_size(),  # known when it runs
    )
    dataset_config = NumpyFSLDatasetConfig.glob("*.npy", sequence_length=sequence_length)
    data_loader_config = NumpyDataLoaderConfig(global_batch_size=256 * 2048, seed=0)
    train_module_config = TransformerTrainModuleConfig(
        rank_microbatch_size=4 * 2048,
        max_sequence_length=sequence_length,
        optim=AdamWConfig(lr=1e-3, group_overrides=[OptimGroupOverride(params=["embeddings"])]),
        compile_model=True,
        dp_config=TransformerDataParallelConfig(
            name=DataParallelType.hsdp,
            param_dtype=DType.bfloat16,
            reduce_dtype=DType.float32,
            num_replicas=get_world_size() // 16,
        ),
        ac_config=TransformerActivationCheckpointingConfig(
            TransformerActivationCheckpointingMode.full
        ),
    )
    if get_world_size() >= 64:
        train_module_config.rank_microbatch_size //= 2
        train_module_config.ac_config = None
    if opts.fast:
        train_module_config.rank_microbatch_size = 16 * 2048
    trainer_config = TrainerConfig(save_folder=opts.save_folder).with_callback("x", Y())
    return ExperimentConfig(model=model_config, train_module=train_module_config)

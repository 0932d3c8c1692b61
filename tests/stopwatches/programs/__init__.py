"""Training programs as users of a library write them, each with a stopwatch inside.

None of them has an annotation. `tests/stopwatches/__main__.py` runs them.
"""

LIBRARIES = {
    "skrl_ppo": "skrl",
    "skrl_sac": "skrl",
    "tianshou_dqn": "Tianshou",
    "tianshou_ppo": "Tianshou",
    "sb3_contrib_recurrent_ppo": "sb3-contrib",
    "sb3_contrib_tqc": "sb3-contrib",
    "rl_zoo3_dqn": "RL Zoo",
    "sbx_ppo": "SBX",
    "sbx_sac": "SBX",
    "torchrl_dqn": "TorchRL",
    "trl_grpo": "TRL",
    "open_spiel_dqn": "OpenSpiel",
    "open_spiel_ppo": "OpenSpiel",
    "open_spiel_policy_gradient": "OpenSpiel",
    "sample_factory_appo": "Sample Factory",
    "pettingzoo_ppo": "PettingZoo",
    "keras_dqn": "Keras on JAX",
    "jax_actor_critic": "JAX",
    "one_file_dqn": "PyTorch",
    "one_file_ppo": "PyTorch",
}
"""Name of each program, and what it is written with."""

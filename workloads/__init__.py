"""RL training scripts to profile; each file is one workload, run by path or by name.

python workloads/ppo_cartpole.py
python -m rlscope.workloads.ppo_cartpole
"""

if __name__ != "rlscope.workloads":
    raise ImportError("import this package as rlscope.workloads, not as a top-level package")

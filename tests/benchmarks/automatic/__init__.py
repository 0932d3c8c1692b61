"""Training programs with hand-made annotations, to compare automatic operations with.

Each file is one program in the style in which such programs are usually written, annotated with
what the operations mean (docs/guide/automatic.md): `inference` begins where the observation is made
a tensor, or at the first forward, and ends where the environment is called. Converting the action
back, which waits for the forward where that runs on a GPU, is its last part and no simulation.
`target` and `advantage` are what an update computes without gradients.
tests/benchmarks/automatic_truth.py runs them.
"""

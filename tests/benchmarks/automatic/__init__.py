"""Training programs with hand-made annotations, to compare automatic operations with.

Each file is one program in the style in which such programs are usually written, annotated as
rls.operation asks for. tests/benchmarks/automatic_truth.py runs them.
"""

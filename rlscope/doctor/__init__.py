"""What can be recorded on this machine and in a Python environment: `rlscope doctor`.

probe_python.py, probe_cuda.py   run in the other interpreter, print JSON; standard library only
probes.py                        runs them
links.py                         what frameworks link of CUDA, read from their files
checks.py, cupti.py              their answers -> findings
"""

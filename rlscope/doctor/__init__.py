"""What can be recorded on this machine and in a Python environment: `rlscope doctor`.

probe_python.py, probe_cuda.py   run in the other interpreter, print JSON; standard library only
probes.py                        runs them
checks.py                        what they found -> findings
"""

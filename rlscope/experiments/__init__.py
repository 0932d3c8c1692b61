"""Small measurements on this machine that replace assumptions in prices, for `advise --measure`.

A rule of analysis/findings names an experiment, which is a file of programs/. It does the same work
in the program's way and in the advised way.
"""

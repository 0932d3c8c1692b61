"""The runs of a program that `rlscope calibrate` and `rlscope validate` compare."""

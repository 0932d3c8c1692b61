"""Programs that use CUDA, real or simulated, and what their traces say."""

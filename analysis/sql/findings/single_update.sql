-- Optimizers of PyTorch whose update of single tensors is on a stack of a process ($process_id): the
-- names of their files in torch/optim.
SELECT DISTINCT regexp_extract(file, '/torch/optim/([a-z_]+)\.py$', 1) AS optimizer FROM stack
WHERE process_id = $process_id AND function LIKE '\_single\_tensor\_%' ESCAPE '\'
  AND regexp_matches(file, '/torch/optim/[a-z_]+\.py$')
ORDER BY optimizer

"""A Ray that runs until stdin ends; prints its address."""

import sys

import ray
import work

if __name__ == "__main__":
    context = ray.init(num_cpus=work.WORKERS, include_dashboard=False)
    print(context.address_info["gcs_address"], flush=True)
    sys.stdin.read()

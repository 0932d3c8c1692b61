"""A program in which PyTorch calls Python back in six ways, 5 ms of CPU time each: as text, for
native_calls.record_calls. It prints (kind, start, end) of each, in nanoseconds of CLOCK_MONOTONIC.
"""

BUSY_NS = 5_000_000
KINDS = ("forward", "backward", "hook", "custom_op", "__torch_function__", "__getitem__")


def script(rounds: int) -> str:
    """The program: each round is inside an operation, "round 0" and so on."""
    return _TORCH.format(rounds=rounds, busy_ns=BUSY_NS)


_TORCH = """
import json, time
_runtime.intercept_watch("*/site-packages/torch/*", "framework")
_runtime.intercept_at_import(None, None, True)
import torch
torch.set_num_threads(1)
busy_ns = []

def busy(kind):
    start, begun = time.monotonic_ns(), time.thread_time_ns()
    while time.thread_time_ns() - begun < {busy_ns}:
        pass
    busy_ns.append((kind, start, time.monotonic_ns()))

class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        busy("forward")
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        busy("backward")
        return gradient * 2

@torch.library.custom_op("rlscope::custom", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    busy("custom_op")
    return x.clone()

class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        busy("__torch_function__")
        return super().__torch_function__(function, types, args, kwargs or {{}})

def hook(gradient):
    busy("hook")
    return gradient

class Items:
    def __len__(self):
        return 2
    def __getitem__(self, i):
        if i >= 2:
            raise IndexError
        busy("__getitem__")
        return float(i)

leaf = torch.rand(8, 8, requires_grad=True)
def work():
    y = Function.apply(leaf)
    y.register_hook(hook)
    y.sum().backward()
    custom(leaf.detach())
    torch.ones(2).as_subclass(Sub) + 1
    torch.tensor(Items())
work()
busy_ns.clear()
for number in range({rounds}):
    with rls.operation("round " + str(number)):
        work()
print(json.dumps(busy_ns))
"""

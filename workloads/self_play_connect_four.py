"""AlphaZero-like self-play of Connect Four by worker processes, with PyTorch, for rlscope.

    rls-prof python workloads/self_play_connect_four.py --workers 4
    rls-prof python -m rlscope.workloads.self_play_connect_four --total-timesteps 2000

Silver et al. 2017 (Nature 550, 354-359): an iteration is three phases. The best network plays games
against itself (self_play); its copy, the candidate, learns from them by SGD (update); a candidate
that wins enough games against the best network takes its place (evaluation). The games are played
by worker processes, each of which searches in several games at once (tree_search.py) and evaluates
their positions as one batch; the process that trains waits for them.
Runs alike with and without rls-prof: unrecorded annotations cost next to nothing.
"""

import contextlib
import copy
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import rlscope as rls
from rlscope.workloads.arguments import Count, Device, parse_args
from rlscope.workloads.connect_four import (
    COLUMNS,
    ROWS,
    Game,
    Position,
    planes,
    play,
    possible_shares,
    random_player,
    score,
)
from rlscope.workloads.torch_training import seed_everything
from rlscope.workloads.training_run import no_operation
from rlscope.workloads.tree_search import search
from rlscope.workloads.worker_processes import WorkerDied, Workers


@dataclass
class Args:
    seed: int = 1
    """seed of every random number generator"""
    workers: Count = 2
    """processes that play"""
    total_timesteps: Count = 20_000
    """moves of self-play in the whole run, rounded up to whole iterations"""
    games: Count = 64
    """games of self-play in one iteration, shared by the workers"""
    evaluation_games: Count = 32
    """games of the candidate against the best network in one iteration"""
    simulations: Count = 32
    """of the tree search before each move"""
    sampled_moves: int = 8
    """first moves of a game that are drawn by the search's shares; then the best one is taken"""
    promotion_score: float = 0.55
    """wins, draws by half, with which a candidate becomes the best network"""
    buffer_size: Count = 10_000
    """positions of the last games that the candidate learns from"""
    updates: Count = 100
    """steps of the optimizer in one iteration"""
    batch_size: Count = 128
    """positions of one update"""
    channels: Count = 16
    """of each layer of the network"""
    blocks: Count = 1
    """residual blocks of the network"""
    learning_rate: float = 0.05
    """of SGD with momentum 0.9"""
    weight_decay: float = 1e-4
    """of SGD"""
    device: Device = "cpu"
    """where the networks are, the workers' too: cpu, cuda, ..."""
    torch_threads: Count = 1
    """threads of PyTorch in the process that trains; workers have one each"""
    annotate: bool = True
    """annotate operations for rlscope (--no-annotate: measure without)"""
    print_every: int = 1
    """iterations between lines of progress, 0: none"""


class Network(nn.Module):  # type: ignore[misc]
    """Logits of the moves and value of a position, from the picture of its stones."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, channels, kernel_size=3, padding=1)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        self.policy = nn.Linear(channels * ROWS * COLUMNS, COLUMNS)
        self.value = nn.Linear(channels * ROWS * COLUMNS, 1)

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        """Shapes (batch, 7) and (batch,); the value is of who moves next, from -1 to 1."""
        features = self.first(picture).relu()
        for block in self.blocks:
            features = block(features)
        flat = features.flatten(1)
        return self.policy(flat), self.value(flat).squeeze(-1).tanh()


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions around which the input goes as well."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.second = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, features: Tensor) -> Tensor:
        """The output has the shape of the input."""
        return (features + self.second(self.first(features).relu())).relu()


class Player:
    """Chooses moves with a network, by tree search or, without simulations, by its policy alone."""

    def __init__(self, args: Args, network: nn.Module, simulations: int, noise: Any = None) -> None:
        self.operation: Any = rls.operation if args.annotate else no_operation
        self.device = args.device
        self.network = network
        self.simulations = simulations
        self.noise = noise

    def __call__(self, positions: Sequence[Position]) -> Any:
        """How good each column is, shape (positions, 7): shares that add up to 1, 0 if full."""
        if self.simulations:
            return search(positions, self.evaluate, self.simulations, self.operation, self.noise)
        with self.operation("inference"):
            policy, _ = self.evaluate(positions)
        return possible_shares(positions, policy)

    def evaluate(self, positions: Sequence[Position]) -> tuple[Any, Any]:
        """Probability of each column, (positions, 7), and values, (positions,)."""
        picture = torch.as_tensor(planes(*zip(*positions, strict=True)), device=self.device)
        with torch.no_grad():
            logits, values = self.network(picture)
            policy = logits.softmax(dim=-1)
        return policy.cpu().numpy(), values.cpu().numpy()


class Examples(NamedTuple):
    """Positions of games that were played; the first dimension is the position."""

    mine: Any
    theirs: Any
    """the stones, uint64"""
    policy: Any
    """what the search thought of each column, float32 (positions, 7)"""
    outcome: Any
    """1 if the player who moved next has won, -1 if lost, float32"""


def examples_of(games: Sequence[Game]) -> Examples:
    """What a network can learn from games."""
    rows = [
        (*position, policy, game.outcome() * (-1) ** ply)
        for game in games
        for ply, (position, policy) in enumerate(game.history)
    ]
    mine, theirs, policy, outcome = zip(*rows, strict=True)
    return Examples(
        np.array(mine, np.uint64),
        np.array(theirs, np.uint64),
        np.array(policy, np.float32),
        np.array(outcome, np.float32),
    )


class Job(NamedTuple):
    """Games that a worker has to play."""

    phase: str
    weights: list[dict[str, Any]]
    """of one network that plays itself, or of two that play each other, as arrays"""
    games: int
    seed: int


class GameWorker:
    """What a worker process does."""

    def __init__(self, args: Args, index: int) -> None:
        self.args = args
        torch.set_num_threads(1)
        if args.annotate:
            rls.process(f"self_play_{index}")

    def __call__(self, job: Job) -> Any:
        """The examples of self-play, or how often the first network has won, draws by half."""
        with rls.phase(job.phase) if self.args.annotate else contextlib.nullcontext():
            return self.evaluate(job) if len(job.weights) == 2 else self.play(job)

    def play(self, job: Job) -> Examples:
        """Games of a network against itself."""
        random = np.random.default_rng(job.seed)
        (weights,) = job.weights
        player = self.player(weights, random)
        seats = [(0, 0)] * job.games
        games = play([player], seats, self.args.sampled_moves, random, player.operation)
        return examples_of(games)

    def evaluate(self, job: Job) -> float:
        """Games of the first network against the second one, which take turns to begin."""
        random = np.random.default_rng(job.seed)
        players = [self.player(weights) for weights in job.weights]
        return score(players, job.games, self.args.sampled_moves, random, players[0].operation)

    def player(self, weights: dict[str, Any], noise: Any = None) -> Player:
        """Who searches with these weights."""
        network = Network(self.args.channels, self.args.blocks).to(self.args.device)
        network.load_state_dict({name: torch.as_tensor(w) for name, w in weights.items()})
        return Player(self.args, network, self.args.simulations, noise)


class Replay:
    """The positions of the last games."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.examples: Examples | None = None

    def add(self, examples: Sequence[Examples]) -> None:
        """Adds positions; the oldest go."""
        parts = [*([self.examples] if self.examples else []), *examples]
        columns = zip(*parts, strict=True)
        self.examples = Examples(*(np.concatenate(column)[-self.size :] for column in columns))

    def sample(self, batch_size: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
        """Pictures, policies and outcomes of positions drawn with equal chances; half mirrored."""
        assert self.examples is not None
        drawn = np.random.randint(len(self.examples.mine), size=batch_size)
        batch = Examples(*(column[drawn] for column in self.examples))
        picture = torch.as_tensor(planes(batch.mine, batch.theirs), device=device)
        policy = torch.as_tensor(batch.policy, device=device)
        mirrored = torch.rand(batch_size, device=device) < 0.5
        picture = torch.where(mirrored[:, None, None, None], picture.flip(-1), picture)
        policy = torch.where(mirrored[:, None], policy.flip(-1), policy)
        return picture, policy, torch.as_tensor(batch.outcome, device=device)


class Trainer:
    """One training run; `train` is the loop."""

    def __init__(self, args: Args) -> None:
        self.args = args
        seed_everything(args.seed)
        self.random = np.random.default_rng(args.seed)
        self.operation: Any = rls.operation if args.annotate else no_operation
        self.candidate = Network(args.channels, args.blocks).to(args.device)
        self.best = copy.deepcopy(self.candidate)
        self.optimizer = torch.optim.SGD(
            self.candidate.parameters(),
            args.learning_rate,
            momentum=0.9,
            weight_decay=args.weight_decay,
        )
        self.replay = Replay(args.buffer_size)
        self.moves = 0

    def train(self) -> None:
        """Runs all iterations, with workers that live as long."""
        total, iteration = self.args.total_timesteps, 0
        with Workers(self.args.workers, GameWorker, self.args) as workers:
            while self.moves < total:
                if self.args.annotate:
                    rls.iteration()
                    rls.progress(self.moves, total)
                self.run_iteration(workers, iteration)
                iteration += 1
        if self.args.annotate:
            rls.progress(total, total)

    def run_iteration(self, workers: Workers, iteration: int) -> None:
        """Games, updates, and a match for the place of the best network."""
        with self._phase("self_play"):
            self.collect(workers)
        with self._phase("update"):
            loss = self.learn()
        with self._phase("evaluation"):
            share = self.evaluate(workers)
        if share >= self.args.promotion_score:
            self.best.load_state_dict(self.candidate.state_dict())
        if self.args.print_every and iteration % self.args.print_every == 0:
            print(f"{self.moves} moves: loss {loss:.2f}, candidate against best {share:.2f}")

    def collect(self, workers: Workers) -> None:
        """Games of the best network against itself."""
        jobs = self._jobs("self_play", [self.best], self.args.games)
        with self.operation("gather"):
            examples = workers.run(jobs)
        self.replay.add(examples)
        self.moves += sum(len(each.outcome) for each in examples)

    def learn(self) -> float:
        """Updates of the candidate; the mean loss."""
        losses = [self._update() for _ in range(self.args.updates)]
        return float(torch.stack(losses).mean())

    def _update(self) -> Tensor:
        """One step towards what the searches thought and how the games ended."""
        with self.operation("sample"):
            picture, policy, outcome = self.replay.sample(self.args.batch_size, self.args.device)
        with self.operation("forward"):
            logits, value = self.candidate(picture)
            policy_loss = nn.functional.cross_entropy(logits, policy)
            loss = policy_loss + (value - outcome).square().mean()
        with self.operation("backprop"):
            self.optimizer.zero_grad()
            loss.backward()
        with self.operation("optimizer"):
            self.optimizer.step()
        return loss.detach()

    def evaluate(self, workers: Workers) -> float:
        """Share of the games that the candidate wins against the best network."""
        games = self.args.evaluation_games
        jobs = self._jobs("evaluation", [self.candidate, self.best], games)
        with self.operation("gather"):
            wins: float = sum(workers.run(jobs))
        return wins / games

    def score_against_chance(self, games: int = 200) -> float:
        """Share of the games that the best network's policy, without search, wins against random
        moves."""
        random = np.random.default_rng(self.args.seed)
        alone = Player(self.args, self.best, simulations=0)
        moves = ROWS * COLUMNS
        return score([alone, random_player], games, moves, random, self.operation) / games

    def _jobs(self, phase: str, networks: Sequence[nn.Module], games: int) -> list[Job]:
        """Games for each worker; as arrays, because tensors would go by files in shared memory."""
        weights = [{n: w.cpu().numpy() for n, w in net.state_dict().items()} for net in networks]
        shares = [len(part) for part in np.array_split(np.arange(games), self.args.workers)]
        seeds = self.random.integers(2**31, size=len(shares)).tolist()
        return [
            Job(phase, weights, share, seed)
            for share, seed in zip(shares, seeds, strict=True)
            if share
        ]

    def _phase(self, name: str) -> Any:
        return rls.phase(name) if self.args.annotate else contextlib.nullcontext()


def main(argv: list[str] | None = None) -> None:
    """Runs what the command line asks for."""
    args = parse_args(Args, "Self-play of Connect Four", argv)
    torch.set_num_threads(args.torch_threads)
    if args.annotate:
        rls.process("trainer")
        rls.metadata(algorithm="AlphaZero", environment="Connect Four", **vars(args))
    trainer = Trainer(args)
    start = time.perf_counter()
    try:
        trainer.train()
    except WorkerDied as error:
        sys.exit(str(error))
    seconds = time.perf_counter() - start
    print(
        f"trained in {seconds:.1f} s; share of games that the network without search wins "
        f"against random moves {trainer.score_against_chance():.2f}"
    )


if __name__ == "__main__":
    main()

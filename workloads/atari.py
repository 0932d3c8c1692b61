"""Games of the Arcade Learning Environment as an agent sees them; needs ale-py and OpenCV."""

from typing import Any

import gymnasium as gym
from gymnasium.wrappers import AtariPreprocessing, ClipReward, FrameStackObservation
from torch import nn


def make_game(env_id: str) -> Any:
    """The game as Machado et al. 2018 play it; returns are noted before rewards are clipped.

    An observation is the last four frames of 84 x 84 pixels, 0 to 255. Raises ImportError without
    the packages, gymnasium.error.Error for what is no game.
    """
    if not env_id.startswith("ALE/"):
        raise gym.error.Error("not a game of the Arcade Learning Environment, like ALE/Pong-v5")
    try:
        import ale_py
        import cv2  # noqa: F401  AtariPreprocessing imports it
    except ImportError as error:
        raise ImportError(f"{error}: pip install ale-py opencv-python-headless") from None
    gym.register_envs(ale_py)
    env = gym.make(env_id, frameskip=1)  # AtariPreprocessing skips frames itself
    env = AtariPreprocessing(gym.wrappers.RecordEpisodeStatistics(env))
    return FrameStackObservation(ClipReward(env, -1.0, 1.0), 4)


def pixel_layers() -> list[nn.Module]:
    """Four frames to 512 numbers: the network of Mnih et al. 2015 (Nature 518, 529-533)."""
    return [
        nn.Conv2d(4, 32, kernel_size=8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, kernel_size=4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, kernel_size=3, stride=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 512),
        nn.ReLU(),
    ]

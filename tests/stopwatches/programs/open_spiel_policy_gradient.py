"""Two actor-critics of OpenSpiel learn Leduc poker against each other."""

import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import policy_gradient
from stopwatch import Stopwatch


def main():
    np.random.seed(1)
    torch.manual_seed(1)
    env = rl_environment.Environment("leduc_poker")
    size = env.observation_spec()["info_state"][0]
    actions = env.action_spec()["num_actions"]
    agents = [
        policy_gradient.PolicyGradient(
            player, size, actions, loss_str="a2c", hidden_layers_sizes=(64,), batch_size=32
        )
        for player in range(2)
    ]

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    for agent in agents:
        stopwatch.wrap("inference", agent, "_act")
        stopwatch.wrap("learning", agent, "_critic_update", "_pi_update")
    with stopwatch:
        for _ in range(5000):
            time_step = env.reset()
            while not time_step.last():
                player = time_step.observations["current_player"]
                output = agents[player].step(time_step)
                time_step = env.step([output.action])
            for agent in agents:
                agent.step(time_step)


if __name__ == "__main__":
    main()

"""Two actor-critics of OpenSpiel learn Kuhn poker against each other, and are evaluated."""

import numpy as np
import torch
from open_spiel.python import rl_agent_policy, rl_environment
from open_spiel.python.algorithms import exploitability
from open_spiel.python.pytorch import policy_gradient
from stopwatch import Stopwatch


def main():
    np.random.seed(1)
    torch.manual_seed(1)
    env = rl_environment.Environment("kuhn_poker")
    size = env.observation_spec()["info_state"][0]
    actions = env.action_spec()["num_actions"]
    agents = [
        policy_gradient.PolicyGradient(
            player, size, actions, loss_str="a2c", hidden_layers_sizes=(64,), batch_size=32
        )
        for player in range(2)
    ]

    policy = rl_agent_policy.JointRLAgentPolicy(
        env.game, dict(enumerate(agents)), env.use_observation
    )

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    for agent in agents:
        stopwatch.wrap("inference", agent, "_act")
        stopwatch.wrap("learning", agent, "_critic_update", "_pi_update")
    stopwatch.wrap("evaluation", exploitability, "nash_conv")
    with stopwatch:
        for episode in range(5000):
            if episode % 1000 == 500:
                exploitability.nash_conv(env.game, policy)
            time_step = env.reset()
            while not time_step.last():
                player = time_step.observations["current_player"]
                output = agents[player].step(time_step)
                time_step = env.step([output.action])
            for agent in agents:
                agent.step(time_step)


if __name__ == "__main__":
    main()

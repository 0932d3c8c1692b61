"""Two deep Q-learners of OpenSpiel learn breakthrough against each other."""

import numpy as np
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import dqn
from stopwatch import Stopwatch


def main():
    np.random.seed(1)
    env = rl_environment.Environment("breakthrough(rows=6,columns=6)")
    size = env.observation_spec()["info_state"][0]
    actions = env.action_spec()["num_actions"]
    agents = [
        dqn.DQN(
            player,
            state_representation_size=size,
            num_actions=actions,
            hidden_layers_sizes=[64, 64],
            batch_size=32,
            learn_every=4,
            min_buffer_size_to_learn=200,
            epsilon_decay_duration=4000,
            epsilon_decay_schedule_str="linear",
        )
        for player in range(2)
    ]

    stopwatch = Stopwatch()
    stopwatch.wrap("simulation", env, "step", "reset")
    stopwatch.wrap("replay", dqn.ReplayBuffer, "append", "sample")
    for agent in agents:
        stopwatch.wrap("inference", agent, "select_action")
        stopwatch.wrap("learning", agent, "learn")
    with stopwatch:
        for _ in range(500):
            time_step = env.reset()
            while not time_step.last():
                player = time_step.observations["current_player"]
                output = agents[player].step(time_step)
                time_step = env.step([output.action])
            for agent in agents:
                agent.step(time_step)


if __name__ == "__main__":
    main()

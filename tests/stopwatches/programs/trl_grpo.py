"""GRPO of TRL with a tiny model: it is rewarded for words that rhyme with its prompt."""

import tempfile

import torch
from accelerate.optimizer import AcceleratedOptimizer
from datasets import Dataset
from stopwatch import Stopwatch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

WORDS = [f"{begin}{end}" for begin in "bcdfghlmnprst" for end in ("at", "ig", "un", "op")]


def make_tokenizer():
    words = ["<pad>", "<eos>", "<unk>", *WORDS]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )


def rhymes(prompts, completions, **_):
    ends = [prompt.split()[-1][1:] for prompt in prompts]
    said = [completion.split() for completion in completions]
    return [
        sum(word.endswith(end) for word in words) / max(1, len(words))
        for words, end in zip(said, ends, strict=True)
    ]


def main():
    torch.manual_seed(1)
    tokenizer = make_tokenizer()
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=2,
        bos_token_id=1, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    prompts = Dataset.from_dict({"prompt": [f"{a} {b}" for a in WORDS for b in WORDS[:4]]})
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=GPT2LMHeadModel(config),
            reward_funcs=rhymes,
            processing_class=tokenizer,
            train_dataset=prompts,
            eval_dataset=prompts.select(range(8)),
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=16,
                num_generations=8,
                max_completion_length=24,
                num_iterations=2,
                max_steps=64,
                eval_strategy="steps",
                eval_steps=15,
                per_device_eval_batch_size=8,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                use_cpu=True,
                bf16=False,
            ),
        )

        stopwatch = Stopwatch()
        stopwatch.wrap("evaluation", trainer, "evaluate")
        stopwatch.wrap("generation", trainer.model, "generate")
        stopwatch.wrap("preparation", trainer, "_prepare_inputs")
        stopwatch.wrap("learning", trainer, "_get_per_token_logps_and_entropies")
        stopwatch.wrap("learning", trainer, "training_step")
        stopwatch.wrap("learning", trainer.accelerator, "clip_grad_norm_")
        stopwatch.wrap("learning", AcceleratedOptimizer, "step", "zero_grad")
        with stopwatch:
            trainer.train()


if __name__ == "__main__":
    main()

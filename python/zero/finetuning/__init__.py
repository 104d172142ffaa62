"""From a Hugging Face folder and a corpus to a trained folder: `zero.finetune()` and
`python -m zero finetune`."""

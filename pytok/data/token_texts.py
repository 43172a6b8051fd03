"""Tokens that llama.cpp knows by their text, whatever the file says of them.

Source: llama-vocab.cpp, llama_vocab::impl::load, "special tokens" @ pin.
"""

# Role -> texts that take it where the metadata names no id. Of several in one vocabulary
# llama.cpp takes whichever its hash table gives first; pytok takes the lowest id.
ROLE_TEXTS = {
    "eot": (
        "<|eot_id|>",
        "<|im_end|>",
        "<|end|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "<｜end▁of▁sentence｜>",  # noqa: RUF001
        "<end_of_utterance>",
    ),
    "eom": ("<|eom_id|>",),
    "fim_pre": (
        "<|fim_prefix|>",
        "<fim-prefix>",
        "<fim_prefix>",
        "<｜fim▁begin｜>",  # noqa: RUF001
        "<PRE>",
        "▁<PRE>",
        "<|code_prefix|>",
        "<|prefix|>",
    ),
    "fim_suf": (
        "<|fim_suffix|>",
        "<fim-suffix>",
        "<fim_suffix>",
        "<｜fim▁hole｜>",  # noqa: RUF001
        "<SUF>",
        "▁<SUF>",
        "<|code_suffix|>",
        "<|suffix|>",
    ),
    "fim_mid": (
        "<|fim_middle|>",
        "<fim-middle>",
        "<fim_middle>",
        "<｜fim▁end｜>",  # noqa: RUF001
        "<MID>",
        "▁<MID>",
        "<|code_middle|>",
        "<|middle|>",
    ),
    "fim_pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_rep": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep": ("<|file_sep|>",),
}

# Texts that end generation.
EOG_TEXTS = frozenset(
    {
        "<|eot_id|>",
        "<|im_end|>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<|flush|>",
        "<|calls|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "</s>",
        "<|eom_id|>",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "[EOS]",
        "<|end_of_text|>",
        "<end_of_utterance>",
        "<eos>",
        "<turn|>",
        "<|tool_response>",
        "<｜end▁of▁sentence｜>",  # noqa: RUF001
        "[e~[",
    }
)

# Roles whose token ends generation, known by text or by metadata.
EOG_ROLES = ("fim_pad", "fim_rep", "fim_sep", "eos", "eot", "eom")

# gpt-oss ("harmony"): markers that are always shown.
USER_DEFINED_TEXTS = frozenset({"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})

# A text that is no EOG after all where one of the sets of texts is among the EOG tokens;
# and the attribute that its token has then.
NOT_EOG_BESIDE = (
    (
        "<|end|>",
        (
            {"<|return|>", "<|call|>"},
            {"<|return|>", "<|calls|>"},
            {"<|call|>", "<|flush|>"},
            {"<|calls|>", "<|flush|>"},
        ),
        "USER_DEFINED",
    ),
    ("</s>", ({"<|tool_response>"}, {"<|plamo:eos|>"}), "NORMAL"),
)

# A control token whose text contains this is unused too.
UNUSED_MARK = "unused"

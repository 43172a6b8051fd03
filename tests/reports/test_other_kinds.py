"""Faults that people have reported of BERT and T5 vocabularies; each test bears a report's id."""

import golden


def plain(model: str, text: str) -> list[int]:
    return golden.model(model).encode(text, add_special=False)


def test_wpm_accents() -> None:
    accented = "\u014csaka Dvo\u0159\u00e1k l\u01dc \u1ec7"
    assert plain("bert-bge", accented) == plain("bert-bge", "osaka dvorak lu e")


def test_wpm_lowercase_sigma() -> None:
    tokenizer = golden.model("bert-bge")
    ids = plain("bert-bge", "\u039f\u0394\u039f\u03a3 \u0130stanbul")
    text = tokenizer.decode(ids).replace(" ", "")
    assert "\u03c3" in text
    assert "\u03c2" not in text
    assert ids == plain("bert-bge", "\u03bf\u03b4\u03bf\u03c3 istanbul")


def test_wpm_object_prototype() -> None:
    text = "constructor toString __proto__ hasOwnProperty valueOf"
    for model in ("bert-bge", "gpt-2"):
        ids = plain(model, text)
        assert all(type(id_) is int for id_ in ids)
        shown = golden.model(model).decode(ids).replace(" ", "").lower()
        assert shown == text.replace(" ", "").lower()


def test_ugm_mask_lstrip() -> None:
    tokenizer = golden.model("nomic-bert-moe")
    ids = tokenizer.encode("fill the   <mask> here", parse_special=True)
    assert ids.count(250001) == 1
    before = tokenizer.decode_token(ids[ids.index(250001) - 1])
    assert before.strip()
    assert ids == tokenizer.encode("fill the<mask> here", parse_special=True)


def test_ugm_unk_run() -> None:
    assert plain("nomic-bert-moe", " ") == []
    ids = plain("nomic-bert-moe", "x\U00010330\U00010331y")
    assert ids.count(3) == 1

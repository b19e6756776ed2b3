"""What looks like a key and is none stays in sight; what stands beside it and is one does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from knowledge import masking_public
from knowledge.data_file import read_data
from knowledge.masking import hide, mask

SHAPES = read_data(Path(masking_public.__file__).with_suffix(".yaml"))
HASH = "ba552abb45deb93f1f4aefbb6e04f47729fa2839"


@pytest.mark.parametrize("shape", SHAPES, ids=[one["example"][:40] for one in SHAPES])
def test_each_shape_finds_its_example_and_no_more(shape: dict[str, str]) -> None:
    text = shape["example"].replace("«", "").replace("»", "")
    begin, end = shape["example"].index("«"), shape["example"].index("»") - 1
    found = re.search(shape["pattern"], text)
    assert found and (found.span("p") if "p" in found.groupdict() and found["p"] else found.span()) == (begin, end)
    assert hide(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"Note: switching to '{HASH}'.",
        f"git log --format=%H -n 2\n{HASH}\n{HASH[::-1]}\n",
        f"build id: {HASH}, for GNU/Linux 3.2.0",
        f"tokenizer.json sha {HASH}",
        "ERROR token budget exceeded in request b5dfcbf7-3f7b-451f-abd6-3ad8be88bf65",
        "PublicKey = inLetn3cTBFBo1kXCw1Gqxbv0wFCIDPyVljfBYj8Etc=",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n...\n-----END OPENSSH PRIVATE KEY-----",
        "  --token TEXT          Token to use for authentication  [env var: HF_TOKEN]",
        "OPENAI_API_KEY=sk-... python eval.py",
        "mlflow:\n  password: !env MLFLOW_PASSWORD",
        '{"password": null, "token": "", "max_tokens": 8192}',
        "Password: (current) UNIX password prompt never appears",
        "le mot de passe est obligatoire",
    ],
)
def test_what_is_public_stays(text: str) -> None:
    assert mask(text).text == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"commit it with the token {HASH}", HASH),
        (f"at HEAD~1, and WANDB_API_KEY={HASH}", HASH),
        (f"password hash: {HASH}", HASH),
        (f"my key id: {HASH[:32]}", HASH[:32]),
        ("git push with password Marble-lamp.19", "Marble-lamp.19"),
    ],
)
def test_a_key_beside_what_is_public_is_hidden(text: str, secret: str) -> None:
    assert secret not in hide(text)


@pytest.mark.parametrize(
    "text",
    [
        "My login fails. I type «cwvShcmxNIZ5» when it asks for the password",
        "take ada / «tiger77X» to log in",
        "Ich habe das Passwort auf «Tiger77x» gesetzt",
        "Failed password for invalid user «Gr33nApple!» from 10.1.2.3",
        "the password, same as before, «Bison-11a»",
        "Enter MyProxy pass phrase: «puzzle-granite-cactus»",
        "jdbc:oracle:thin:scott/«Meadow»@//db1:1521/x",
        "echo «XkWO$C$qLyL» | sudo -S apt-get install nvtop",
        "backup codes for 2FA:\n«OaBp05v3nqIxZQvG»",
    ],
)
def test_a_word_that_is_made_for_a_login_is_found_wherever_it_stands_beside_a_telling_one(text: str) -> None:
    secret = text[text.index("«") + 1 : text.index("»")]
    assert secret not in hide(text.replace("«", "").replace("»", ""))


@pytest.mark.parametrize(
    "text",
    [
        "the login node login03 runs gcc-12.3 and cuda12.4, log in with ssh -p 2222",
        "ada@login01's password:",
        "psycopg2.OperationalError: password authentication failed",
        "log in on frontier01234 for job 1234567 with --gpus-per-node=4 and NCCL_DEBUG2",
    ],
)
def test_hosts_and_versions_beside_a_login_stay(text: str) -> None:
    assert hide(text) == text


def test_a_key_that_goes_on_over_lines_is_hidden_whole() -> None:
    pieces = ["a7Xk" * 12, "b8Yl" * 12, "c9Zm" * 12, "gF0vrTnqUwDPcvuYasB"]
    assert not any(one in hide("my token is\n> " + "\n> ".join(pieces) + "\n> can you try?") for one in pieces)


def test_what_a_file_of_secrets_holds_is_hidden() -> None:
    assert "winter.lamp" not in hide("$ cat ~/.lab/api_token\nwinter.lamp\n")
    assert "4c1d" not in hide("WANDB_API_KEY\\033[0m=\\033[1m4c1d2e3f4a5b6c7d8e9f4c1d2e3f4a5b6c7d8e9f\\033[0m")


def test_a_projects_code_is_nobodys_key_and_a_password_of_its_form_is() -> None:
    assert "ENVI1187" in hide("My programme code is ENVI1187. Can you make the job file?")
    assert "CSCI0886" not in hide("and the password is CSCI0886")


@pytest.mark.parametrize(
    "text",
    [
        "python x.py --h5ad h.h5ad --seed $seed --outdir results_$seed",
        "cd /eagle/NeuroSeg3D/pvk/unet && python train.py",
        "python t.py --data /eagle/CatGraphNets/oc20/2M --model gemnet",
        '[me@login03 ~]$ squeue -u me -o "%.9i %.14P %.16j %.2t %.10M %.10l %.5D %.20b %R"',
    ],
)
def test_folders_and_forms_with_variables_are_no_keys(text: str) -> None:
    assert hide(text) == text


def test_a_key_with_slashes_in_it_is_hidden() -> None:
    assert "wJalrXUt" not in hide("aws_secret_access_key = /wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzzKEY4")


def test_what_is_said_to_be_a_login_is_a_name_that_comes_back() -> None:
    hidden = mask("l'heure et les commandes svp, mon login est bsc841207")
    assert "<USER_1>" in hidden.text and hidden.names["USER_1"] == "bsc841207"
    assert "bsc841207" not in mask("mon mot de passe est bsc841207").text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: Hopper-100", "Hopper-100"),
        ("the password is Spectrum42", "Spectrum42"),
        ("my password is Korrekt-Pferd-15B", "Korrekt-Pferd-15B"),
        ("mysql -u ada -p'Korrekt-Pferd-15B'", "Korrekt-Pferd-15B"),
        ("login: ada/Trombone-24m", "Trombone-24m"),
        (f"kernel started; api key: {'0b6d1c9a-4e37-4c0f-9d58-2a1f7be0c843'}", "0b6d1c9a-4e37-4c0f-9d58-2a1f7be0c843"),
    ],
)
def test_what_looks_like_a_card_or_a_model_is_a_key_where_it_is_told_to_be(text: str, secret: str) -> None:
    assert secret not in hide(text)


def test_a_key_is_hidden_again_as_a_word_but_not_within_one() -> None:
    assert hide("password: train2024\nsbatch train2024.sh\nfailed with train2024.").endswith(
        "sbatch train2024.sh\nfailed with <hidden>."
    )

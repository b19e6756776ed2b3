"""What of an error or a question is public: the only words that may leave for a web search by themselves.

Not what is private is taken out, but what is public is let through: a word goes only if all its parts stand in the
texts that come with this program (error signatures, causes, cards, guides) or in the lists here. So no name of a
person, an account, a host, a folder or a project can pass, however it is written.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from knowledge import wording
from knowledge.masking import mask
from knowledge.masking_names import HARDWARE, OF_FIELD
from knowledge.masking_table import PLACEHOLDER

FOLDER = Path(__file__).parent
# Texts that ship and name nobody; the facts of clusters are not among them: they hold hosts and projects.
TEXTS = ("causes.yaml", "network_env.yaml", "signatures/*.yaml", "cards/*.yaml", "guides/*.yaml")
SOFTWARE = """
accelerate aiter albumentations alpaca amd ampere apex apptainer attention attn autogptq awq aws axolotl biopython
bitsandbytes blas bloom boto3 c10 caffe2 ccl cffi clip cmaes cmake colabfold colossalai composer conda cpu cublas
cuda cudf cudnn cugraph cuml cupy cutlass cxi cython dali dask datasets ddp deepmd deepseek deepspeed dgl dgx
diffusers dill docker einops enroot epyc evaluate exllama fabric fairscale fairseq faiss falcon fastai ffmpeg flash
flash_attn flashinfer flax flux fsdp fsspec gcc gemma gensim glibc gloo gpt gptq gpu gpytorch grace gradio gres
gromacs h5py haiku hdf5 hip hopper horovod hpc hqq hsa huggingface hydra ib imageio infiniband intel ipex jax jaxlib
joblib jupyter keras kokkos kornia kubernetes lammps lapack libfabric libtorch lightgbm lightning litgpt llama
llmfoundry lm_eval lmdeploy lmod loguru lora lsf lustre magma mamba matplotlib maxtext megatron miopen mistral
mixtral mkl mlflow mmcv mmdet mmengine module monai mpi mpi4py mpich mpiexec mpirun msgpack munge mxnet namd nccl
nemo netcdf networkx neuronx ninja nltk nnunet numba numexpr numpy nvcc nvcomp nvidia nvlink nvme nvshmem nvtx
omegaconf oneapi oneccl onnx onnxruntime open3d openblas opencv openfold openmpi openrlhf optimum optuna orbax paddle
paddlepaddle pals pandas parquet pbs peft petsc pickle pillow pip plotly pmix podman polars protobuf prrte psutil
pyarrow pybind11 pycuda pydantic pyg pynvml pyro pytest python pytorch pytorch3d pyyaml qlora qsub quantumespresso
qwen ray rccl rdma resnet rocblas roce rocm safetensors sbatch scancel scanpy scikit scipy seaborn sentencepiece
setuptools sglang shap shifter singularity skimage sklearn slingshot slurm spacy sqlalchemy squeue srun ssh
statsmodels submitit sympy tensorboard tensorboardx tensorflow tensorrt tiktoken timm tmux tokenizers torch torchao
torchaudio torchdata torchelastic torchmetrics torchrun torchtext torchtitan torchtune torchvision tqdm transformer
transformer_engine transformers triton trl tunnel tvm typer ucc ucx unsloth uv venv verl vit vllm wandb webdataset
wheel whisper xarray xccl xformers xgboost xla xpu yaml zarr zero zlib
"""
SOFTWARE_WORDS = frozenset(SOFTWARE.split())
PLAIN = """
a about access after all allocation an and any are array as at automatic batch be before behind between build by can
cannot change checkpoint choose command compile configure connect copy could create cost default delay depend disable
do does down download enable environment every example fail faster fetch file first fix for forward from get global
grow help hold hook hour how i if image in increase inside install interactive into is issue it job kernel know large
last launch limit list load local log login lost make many max mean memory message min mixed more mount move multi
multiple must need never new no node not number of offline old on one only open optimizer option or out over pass per
pin please port precision prefer price print process profile program proxy queue rank read reduce remove request
reserve resume run save schedule script see send set share show single size slow small some start step stop submit
support than that the then there this time to tool train transfer under update upgrade use user using variable
version wait was way web what when where which while why will with without work write wrong you your
"""
TOKEN = re.compile(r"-{0,2}[A-Za-z][A-Za-z0-9_.:-]*[A-Za-z0-9]|[A-Za-z]|(?<![\w.])\d+(?:\.\d+){0,2}(?![\w.])")
# Anything with one of these in it is a place, an address, or a value.
PLACE = re.compile(r"[/\\~@$%=]")
FILE_NAME = re.compile(r"\bfile \"[^\"]*\"", re.IGNORECASE)
ADDRESS = re.compile(r"https?://\S+")
CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# A number goes only where it says which error or which version it is.
NUMBERED = "code status signal errno error exit exitcode version cuda rocm python pytorch torch nccl"
BEFORE_NUMBER = frozenset(NUMBERED.split())
MOST_WORDS = 14
LEAST_WORDS = 2
LONGEST = 40
MOST_READ = 10_000
FILLERS = "a an and are as at be by for from has have i in is it its my of on or our that the this to was with"
FILLER = frozenset(FILLERS.split())
# Words that only make a question.
VAGUE = wording.FILLER | frozenset(("best", "better", "big", "large", "long", "near", "old", "small"))


def public_query(text: str, facts: Iterable[str] = ()) -> str:
    """A web query of the public words of an error line or a question; empty where there are too few.

    facts: the framework, the scheduler and the like, by the program's own names for them.
    """
    general = FILE_NAME.sub(" ", without_private(text[:MOST_READ]))
    found = dict.fromkeys(public_words(" ".join(word for word in general.split() if not PLACE.search(word))))
    words = [word for word in found if word.lower() not in FILLER]
    if len(words) < LEAST_WORDS:
        return ""
    said = " ".join(words).lower()
    own = [fact for fact in facts if fact and fact.lower() not in said and is_public(fact)]
    return " ".join([*own, *words][: MOST_WORDS + len(own)])


def public_question(text: str, names: Iterable[str] = ()) -> str:
    """A web query of what a question is about; empty where its public words are little but filler.

    names: what the question names by a name of ours, such as a machine; alone they are no subject.
    """
    own = [name for name in names if name]
    said = {word.lower() for name in own for word in name.split()}
    words = public_query(text).split()
    subject = [word for word in words if word.lower() not in VAGUE | said and is_telling(word)]
    return " ".join([*own, *subject]) if len(subject) >= LEAST_WORDS else ""


def is_telling(word: str) -> bool:
    """Whether a word can be what is searched for: no small word of any language."""
    return len(word) > 3 or not word.isalpha() or word.isupper() or word.lower() in SOFTWARE_WORDS


def public_part(text: str) -> tuple[str, tuple[str, ...]]:
    """What of a query may leave, in its order, and the words that may not: no page of ours has them."""
    words = [word.strip(".,;:?!()'\"`") for word in without_private(text[:MOST_READ]).split()]
    may = set(public_words(" ".join(words)))
    kept = [word for word in words if word in may or (len(word) > 2 and is_shipped(word)) or word.isdigit()]
    return " ".join(kept), tuple(word for word in words if word and word not in kept)


def public_words(text: str) -> Iterator[str]:
    """The words that may leave, in order."""
    before = ""
    for found in TOKEN.finditer(text):
        word = found[0].rstrip(".:-")
        if word[:1].isdigit():
            if before in BEFORE_NUMBER and len(word) <= 8 and (len(word) <= 3 or "." in word):
                yield word
        elif len(word) <= LONGEST and is_public(word):
            yield word
        before = word.lower() if not word[:1].isdigit() else ""


def is_public(word: str) -> bool:
    """Whether all parts of a word are public: `ChildFailedError`, `--gpus-per-node`, `NCCL_SOCKET_IFNAME`."""
    known = vocabulary()
    if word.lower().strip("-") in known:
        return True
    parts = CAMEL.findall(word)
    return bool(parts) and all(part.lower() in known for part in parts) and not any(map(str.isdigit, parts))


@cache
def vocabulary() -> frozenset[str]:
    """All public words, in lower case: those of the texts that ship, and the lists above. Read once, in 30 ms."""
    words = set((SOFTWARE + PLAIN).split())
    for pattern in TEXTS:
        for path in FOLDER.glob(pattern):
            text = HOME.sub(" ", ADDRESS.sub(" ", path.read_text(encoding="utf-8")))
            words.update(part.lower() for part in CAMEL.findall(text) if part.isalpha() and len(part) > 1)
            words.update(word.lower() for word in re.findall(r"[A-Za-z][A-Za-z0-9]+", text))
    return frozenset(words)


@cache
def shipped() -> str:
    """The pages that ship, in lower case, one blank between words: machines, sites, guides, cards, common questions."""
    patterns = (*TEXTS, "clusters/*.yaml", "sites/*.yaml", "common_questions/*.yaml")
    paths = (path for p in patterns for path in sorted(FOLDER.glob(p)))
    return "\n".join(" ".join(path.read_text(encoding="utf-8").lower().split()) for path in paths)


@lru_cache(4096)
def is_shipped(value: str) -> bool:
    """Whether a host, an address or a folder stands in the pages that ship, whole: then it is everybody's."""
    text, value = shipped(), value.lower()
    at = text.find(value)
    while at >= 0:
        before, behind = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not before.isalnum() and not behind.isalnum():
            return True
        at = text.find(value, at + 1)
    return False


def without_private(text: str) -> str:
    """A text that a person wrote to be sent to strangers: credentials, persons, folders, accounts and nodes left out.

    A name with a number in it may be an account's or a node's, unless it is one of the field's: cuda12, h100.
    """
    masked = mask(text, known=own_names()).text
    words = PLACEHOLDER.sub(" ", OF_ACCOUNTS.sub(" ", HOME.sub(" ", masked))).split()
    return " ".join(word for word in words if not NUMBERED_NAME.match(word))


# A folder of a person, a job or a project, however it is called: /a/b, ~/b, ./b, $HOME/b, ${SCRATCH}/b.
HOME = re.compile(r"(?<![\w.])(?:\$\{?\w+\}?(?=/)|\.{1,2}(?=/)|[~/])(?:[\w.+~<>-]*/)*[\w.+~<>-]+")


# What names an account by its option or its setting, and a name with three digits or more.
OF_ACCOUNTS = re.compile(r"(?i)(?:--?(?:account|bank|project)[= ]|\b(?:account|user|node|host)\w*=|(?<!\S)-[AP] )\S+")
NUMBERED_NAME = re.compile(rf"(?i)(?!(?:{OF_FIELD.pattern[4:]}|{HARDWARE.pattern[4:]})$)[A-Za-z](?:[\w.-]*\d){{3}}")


# Variables that name this person, their accounts or this machine.
OWN = {
    "USER": "USER",
    "LOGNAME": "USER",
    "SLURM_JOB_ACCOUNT": "ACCOUNT",
    "SBATCH_ACCOUNT": "ACCOUNT",
    "SLURM_ACCOUNT": "ACCOUNT",
    "PBS_ACCOUNT": "ACCOUNT",
    "SLURM_CLUSTER_NAME": "HOST",
}


def own_names() -> dict[str, str]:
    """What this person and this computer are called: never part of a query."""
    names = {socket.gethostname(): "HOST", socket.gethostname().split(".")[0]: "HOST"}
    with contextlib.suppress(OSError, KeyError, RuntimeError):  # a number without a name, as in some containers
        names |= {getpass.getuser(): "USER", Path.home().name: "USER"}
    names |= {value: kind for variable, kind in OWN.items() if (value := os.environ.get(variable, ""))}
    return {name: kind for name, kind in names.items() if len(name) > 2 and name != "root"}

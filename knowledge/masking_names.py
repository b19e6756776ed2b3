"""What names a person, an account or the inside of a site. Read together with masking_keys.py, by masking.py."""

from __future__ import annotations

import re
from ipaddress import ip_address

from knowledge.masking_rule import MaskingRule

# Words that stand where a name could: they name nobody.
WORDS = """
    user users username name names root nobody admin guest test tests train training data dataset datasets model
    models public shared share common project projects work scratch home local localhost default none null nil true
    false unknown string int str code input output defined space process processes script program function mode
    buffer limit limits namespace namespaces level error errors request requests job jobs library id guide group
    account accounts python torch conda mamba anaconda miniconda miniforge slurm pbs lsf flux munge daemon system
    the a an your our this that is was not has had and or for with in on at of to from by be are any all no yes
    invalid allocation partition queue node nodes host hosts gpu gpus cpu cpus rank ranks main master worker workers
    launcher head first last group_name your_account your_project myproject my_account ubuntu centos rocky runner
    jovyan vagrant opc ec2-user software apps agent support help security settings session sessions context access
    error. provided supplied specified interrupt did do does done what why how which when where who can could should
    would will then than just also only one two new old same run running ran see say apply needed https http salloc
    me you he she we they us them him her insufficient portal x86 x64
    srun sbatch squeue sacct sacctmgr scontrol qsub bsub mpirun mpiexec torchrun interrupted hostname myself args
    config self os tmp var usr opt runs logs checkpoints results
"""
COMMON = frozenset(WORDS.split())
CLOCK = re.compile(r"(?i)\d{1,2}[ap]m")
HARDWARE = re.compile(
    r"(?i)(?:a10g?|a[34]0|a100|h[12]00|b[23]00|g[bh][23]00|v100|p100|k80|l40?s?|l4|t4|mi\d{2,3}[ax]?|max1\d{3}|rtx\w*)(?:[-_].*)?"
)


# Kinds of numbers, models, programs and data sets that end in a number, as a host does: `fp32`, `resnet50`, `cuda12`.
OF_FIELD = re.compile(
    r"(?i)(?:(?:b?fp|bf|tf|u?int|b?float|nf|mxfp)[-_]?(?:2|4|8|16|19|32|64)|t5|x86|sm\d{2,3}a?|gfx\d{2,4}[a-z]?|(?:rhel|sles|el|cu|py|cp|sha|utf)-?\d+"
    r"|(?:zero|stage|llama|gpt|bert|roberta|resnet|vgg|vit(?:[-_][a-z]{1,2})?|unet|densenet|qwen|gemma|mixtral|mistral|whisper|python|cuda"
    r"|rocm|cudnn|nccl|rccl|torch|gcc|openmpi|mpich|imagenet|cifar|mnist|adamw)[-_]?v?\d{1,4}(?:[-_.]\d{1,4})*[kbm]?)"
    r"(?:[-_.][a-z]{1,8})?"
)


def is_name(value: str) -> bool:
    """A word that may name a person or an account: not a variable, a placeholder, a number or a common word."""
    plain = value.lower().strip(".") in COMMON or value.isdigit() or CLOCK.fullmatch(value)
    return not (plain or "YOUR_" in value or HARDWARE.fullmatch(value) or OF_FIELD.fullmatch(value))


def is_account(value: str) -> bool:
    return is_name(value) and any(c.isalpha() for c in value)


def is_node(value: str) -> bool:
    """A computer's name: letters and then a number, or several labels that end like a domain."""
    name = value.lower().partition("[")[0]
    if (
        name in COMMON
        or HARDWARE.fullmatch(name)
        or OF_FIELD.fullmatch(name)
        or DEVICES.fullmatch(name)
        or "localhost" in name
    ):
        return False
    if "." in name:
        return bool(DOMAIN.search(name)) and not is_public_host(name)
    return "[" in value or bool(re.search(r"[a-z][\w-]*\d|\d[a-z]", name))


def is_likely_node(value: str) -> bool:
    """The same where no word before it says that it is one."""
    return bool(NODE.match(value)) and is_node(value)


def is_public_host(name: str) -> bool:
    return name.split(".")[0] in ("docs", "www", "help", "status", "support", "download") or bool(
        PUBLIC_HOST.search(name)
    )


def is_private_ip(value: str) -> bool:
    """An address of a machine, not of any or of this one, and not a version or a time that looks like one."""
    try:
        address = ip_address(value)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or value.startswith("255."))


def is_mail(value: str) -> bool:
    """An address of a person; those of a help desk and of a repository are public."""
    return not re.match(r"(?i)(?:help|support|info|no-?reply|consult\w*|security|git|hg|contact|admin|abuse)@", value)


def is_private_host(value: str) -> bool:
    """A full name that tells of a site's inside: an inner domain, or a numbered machine."""
    labels = value.lower().split(".")
    if is_public_host(value.lower()):
        return False
    return labels[-1] in INNER or (len(labels) > 2 and bool(re.search(r"\d|^login", labels[0])))


INNER = frozenset(
    {
        "local",
        "internal",
        "lan",
        "cluster",
        "hsn",
        "intra",
        "corp",
        "private",
        "localdomain",
        "hpc",
        "ib",
        "cm",
        "juwels",
        "jureca",
    }
)
PUBLIC_HOST = re.compile(
    r"(?:^|\.)(?:github|gitlab|pytorch|nvidia|huggingface|pypi|python|pythonhosted|anaconda|docker|quay|nvcr|amazonaws|googleapis"
    r"|readthedocs|wandb|example|microsoft|arxiv|kernel|debian|ubuntu|openai|schedmd|stackoverflow|ghcr|hf)\.(?:com|org|io|ai|co|net|edu)$"
)
TLD = (
    r"(?:edu|gov|com|org|net|int|mil|io|ai|de|fr|ch|it|es|fi|se|no|dk|nl|be|at|pl|cz|eu|uk|jp|cn|kr|in|au|ca|br|us"
    r"|local|internal|lan|cluster|hsn|intra|corp|private|localdomain|hpc|cm|juwels|jureca|invalid|test)"
)
DOMAIN = re.compile(rf"\.{TLD}$")
# What is numbered in a job and is no computer: devices, and the parts of a run.
DEVICES = re.compile(
    r"rank\d+|cuda\d*|gpu\d?|mlx5_\d+|ib\d+|eth\d+|hsn\d|tcp\d?|port\d*"
    r"|(?:step|epoch|layer|batch|seed|line|run|checkpoint|ckpt|iter|chunk|shard|bucket|fold|trial|sweep|phase|part|block"
    r"|expert|task|job|version|attempt|round)(?!0\d)\d+"
)
NODE = re.compile(
    r"(?i)(?:nid|x\d|node|compute|cn|gn|gh|gpu|dgx|hgx|worker|login|host|[a-z]{1,12}-?\d{2,}|[a-z]+-[a-z]+-?\d|[\w-]+\.[\w.-]+)"
)
LIST = r"(?:\[[\d,\s-]{1,400}\])?"
HOST = rf"[A-Za-z][\w-]{{0,62}}(?:\.[A-Za-z][\w-]{{0,62}}){{0,6}}{LIST}"
ACCOUNT = r"[A-Za-z0-9][\w.-]{1,40}"

PERSONAL: tuple[MaskingRule, ...] = (
    # Public keys and their fingerprints: no secrets, but they name their owner.
    MaskingRule(
        "PUBKEY",
        r"aaaa",
        r"(?i)\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d{3})\s+(?P<v>AAAA[\w+/=]{20,})",
        example="ssh-ed25519 «AAAAC3NzaC1lZDI1NTE5AAAAIabc» laptop",
    ),
    MaskingRule(
        "PUBKEY",
        r"sha256:",
        r"\bSHA256:(?P<v>[A-Za-z0-9+/]{40,44})",
        example="SHA256:«0123456789abcdefghijklmnopqrstuvwxyzABCDE12»",
    ),
    MaskingRule("USER", r"\buser\s", r"\b[Uu]ser\s{1,3}(?P<v>[a-z][a-z._-]{1,20}\d{1,6})\b", is_name),
    MaskingRule("HOST", r"\bhost\s", r"\b[Hh]ost\s{1,3}(?P<v>[a-z][\w-]{1,40}\d[\w.-]{0,60})\b", is_node),
    MaskingRule(
        "MAIL",
        r"@[\w.-]+\.",
        r"(?<![\w.+-])(?P<v>[\w.+-]{1,64}@[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}){0,6}\.[A-Za-z]{2,24})\b",
        is_mail,
    ),
    # Prompts, ssh targets, licence servers: user@host and port@host.
    MaskingRule(
        "USER",
        r"\w@\w",
        r"(?<![\w.+/-])(?P<v>[A-Za-z][\w.-]{1,31})@(?!sha256|v\d)(?=[A-Za-z][\w-]{0,40}(?:\d|[:~])|[a-z0-9]{2,20}[\s:])",
        is_name,
    ),
    MaskingRule(
        "HOST", r"\w@\w", rf"(?<![/@])\b[\w.-]{{2,32}}@(?!sha256|v\d)(?P<v>{HOST})(?=[\s:/\]'\",)]|$)", is_node
    ),
    MaskingRule(
        "IP", r"\d\.\d+\.\d+\.\d", r"(?<![\w.=/-])(?P<v>(?:\d{1,3}\.){3}\d{1,3})(?![\w.-]|\.\d)", is_private_ip
    ),
    MaskingRule(
        "IP",
        r"\d\.\d+\.\d+\.\d",
        r"(?:(?<=//)|(?<=[A-Za-z_]=)|(?<=ip-)|(?<=[\w\]]@))(?P<v>(?:\d{1,3}\.){3}\d{1,3})(?![\w.-])",
        is_private_ip,
    ),
    MaskingRule(
        "IP",
        r"[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}|::[0-9a-f]|[0-9a-f]::",
        r"(?i)(?<![\w:.])(?P<v>(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){1,7}"
        r"|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5}::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?)(?![\w:])",
        is_private_ip,
    ),
    MaskingRule(
        "MAC",
        r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}",
        r"(?i)(?:(?<![\w:])|(?<=MD5:))(?P<v>(?:[0-9a-f]{2}:){5,19}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2})(?![\w:-])",
    ),
    MaskingRule(
        "DEVICE",
        r"(?:gpu|mig)-[0-9a-f]{8}-",
        r"\b(?P<v>(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b",
    ),
    MaskingRule(
        "PHONE",
        r"\+\d{1,3}[ .-]\(?\d|\d{3}-\d{3}-\d{4}|\(\d{3}\) ?\d{3}-",
        r"(?<![\w.+-])(?P<v>\+\d{1,3}(?:[ .-]\(?\d{1,5}\)?){2,5}|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])",
    ),
    MaskingRule(
        "PERSON",
        r"[a-z'.-] <[\w.+-]+@",
        r"(?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){1,3}) <(?=[\w.+-]{1,64}@)",
    ),
    MaskingRule(
        "PERSON",
        r"\b(?:author|contact|pi|owner|submitter|submitted by|reported by|requested by|full name|gecos|cn)\s?[:=]",
        r"\b(?:Author|Contact|PI|Owner|Submitter|Submitted by|Reported by|Requested by|Full name|Gecos|CN)\s?[:=]\s?"
        r"(?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){1,3})",
    ),
    MaskingRule(
        "BUCKET",
        r"\b(?:s3a?|gs|gcs|az|abfss?|wasbs?|r2)://",
        r"\b(?:s3a?|gs|gcs|az|abfss?|wasbs?|r2)://(?P<v>[\w.-]{3,63})",
    ),
    MaskingRule(
        "PATH",
        r"wandb\.(?:ai|me)/",
        r"\bwandb\.(?:ai|me)/(?!site\b|authorize|settings|quickstart)(?P<v>[\w.-]{2,60}(?:/[\w.-]{1,80})?)",
    ),
    MaskingRule("USER", r"logged in as", r"(?i)\blogged in as:?\s+(?P<v>[A-Za-z][\w.-]{1,40})", is_name),
    MaskingRule(
        "USER",
        r"(?:user(?:name|_?id)?|logname|uname|owner|entity)[\"']?\s*[=:]",
        r"(?i)\b(?:[a-z]\w{0,40}_)?(?:e?user(?:name|_?id)?|logname|uname|job_owner|entity|mail-user)[\"']?\s{0,3}[=:]\s{0,3}[\"']?"
        r"(?P<v>[A-Za-z][\w.-]{1,40})(?=[\s\"',;)\]@(]|$)",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"(?:id|groups)=",
        r"\b(?:UserId|GroupId|uid|gid|euid|groups|USERID)=(?:\d{1,10}\()?(?P<v>[A-Za-z][\w.-]{1,40})\b",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"\b(?:for|by|as|of|invalid|unknown|su|such) (?:the )?user ",
        r"(?i)\b(?:for|by|as|of|invalid|unknown|su|no such) (?:the )?user "
        r"(?P<q>['\"]?)(?P<v>[A-Za-z][\w.-]{1,40})(?P=q)(?=[\s:,;.)]|$)",
        is_name,
    ),
    MaskingRule("USER", r"user ['\"]", r"(?i)\buser ['\"](?P<v>[A-Za-z][\w.-]{1,40})['\"]", is_name),
    MaskingRule("USER", r"machine\s.*\slogin\s", r"(?i)\bmachine\s+\S{1,80}\s+login\s+(?P<v>\S{2,60})", is_name),
    MaskingRule("USER", r"~[a-z]", r"(?<![\w/])~(?P<v>[a-z][\w-]{1,31})(?=/|\s|$)", is_name),
    MaskingRule("USER", r":\\users\\", r"(?i)\b[A-Z]:\\Users\\(?P<v>[^\\\s]{1,40})"),
    MaskingRule(
        "ACCOUNT",
        r"^[\s\d+>-]*#\s?(?:sbatch|pbs|bsub|pjm|flux).*\s-[apg]",
        # Also in a diff, and behind a line's number.
        rf"^[\s\d+>-]{{0,8}}#\s?(?:SBATCH|PBS|BSUB|PJM|flux:?)[^\n]{{0,200}}?\s-(?:A|P|g)[ =]?(?P<v>{ACCOUNT})",
        is_account,
    ),
    MaskingRule(
        "ACCOUNT",
        r"(?:sbatch|salloc|srun|qsub|bsub|interact).*\s-[ap]",
        rf"\b(?:sbatch|salloc|srun|qsub|bsub|interact|sinteractive)\b[^\n]{{0,200}}?\s-(?:A|P)[ =]?(?P<v>{ACCOUNT})",
        is_account,
    ),
    MaskingRule(
        "ACCOUNT",
        r"--(?:account|bank|project|charge)[= ]|(?:account(?:_?name)?|acct|bank|allocation|group_list)[\"']?\s*[=:]",
        r"(?i)(?:--(?:account|bank|project|charge)[= ]"
        # Behind a colon a sentence may go on: `no account: ask your PI`.
        r"|\b(?:[a-z]\w{0,40}_)?(?:account(?:_?name)?|acct|bank|allocation|group_list)[\"']?\s{0,3}"
        r"(?:=|:(?! {1,3}(?:ask|see|use|choose|contact|leave|put|add|give|write"
        r"|replace|drop|please|your|the|which|what|none|not|no|any)\b))\s{0,3})"
        rf"[\"']?(?P<v>{ACCOUNT})",
        is_account,
    ),
    MaskingRule(
        "ACCOUNT",
        r"(?:account|allocation|budget|project|group|bank|charged?|bill(?:ed)?)\b.*[a-z][\w-]*\d",
        r"(?i)\b(?:account|allocation|budget|project|group|bank|charged? (?:it |this )?to(?: the)?"
        r"(?: account| project| allocation)?"
        r"|bill(?:ed)? (?:it )?to)\s+(?:id\s+|is\s+|code\s+)?[\"'`*]{0,2}(?P<v>(?=[\w-]{0,12}\d)[A-Za-z][\w-]{2,40})",
        is_account,
    ),
    MaskingRule(
        "ACCOUNT",
        r"(?:account|allocation|budget)\b.*[a-z]_",
        r"(?i)\b(?:account|allocation|budget)\s+(?:is\s+|name\s+|code\s+)?[\"'`*]{0,2}"
        r"(?P<v>[a-z][a-z0-9]{1,20}_[\w-]{2,30})",
        is_account,
    ),
    MaskingRule(
        "ACCOUNT",
        r"(?:account|allocation|project|bank).*['\"`]",
        r"(?i)\b(?:my|our|the|with|under|use|using) (?:account|allocation|project|bank)(?: is| code| id| name|:)? "
        r"[\"'`](?P<v>[A-Za-z0-9][\w.-]{1,40})[\"'`]",
        is_account,
    ),
    MaskingRule(
        "HOST",
        r"(?:host(?:name)?s?|node_?name|node_?list|batchhost|master_addr|exec_host|head_node(?:_ip)?|machines?_?list)[\"']?\s*[=:]",
        r"(?i)\b(?:[a-z]\w{0,40}_)?(?:slurmd_)?(?:hostname|node_?name|(?:req)?node_?list|batchhost|master_addr|exec_host"
        rf"|head_node(?:_ip)?|machines?_?list|hosts?)[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?(?P<v>{HOST})",
        is_node,
    ),
    MaskingRule(
        "HOST",
        r"(?:hostname|master_addr|slurmd_nodename)=",
        r"(?i)\b(?:hostname|master_addr|slurmd_nodename)=[\"']?(?P<v>[a-z][\w-]{2,62})\b(?![.(\w])",
        is_name,
    ),
    MaskingRule(
        "HOST", r":\d+:\d+ \[.*[nr]ccl", rf"^(?:\[?\d{{1,6}}\]?:? ?)?(?P<v>{HOST}):\d{{1,8}}:\d{{1,8}} \[", is_name
    ),
    MaskingRule(
        "HOST", r"\[\w[\w.-]*:\d+(?::\d+:\d+)?\]", rf"\[(?P<v>{HOST}):\d{{1,8}}(?::\d{{1,8}}:\d{{1,8}})?\]", is_node
    ),
    MaskingRule(
        "HOST",
        r"(?:\b(?:on|from|to|at|of|nodes?|hosts?|ssh|ping) |error: )[a-z][\w-]*[\d.\[]",
        rf"(?i)\b(?:(?:on|from|to|at|of|nodes?|hosts?|ssh|ping) |error: )(?P<v>{HOST})(?=[\s:,;)\].'\"]|$)",
        is_likely_node,
    ),
    MaskingRule(
        "HOST",
        r"nid\d{4}|x\d{4}c\d|[hr]\d{1,3}n\d|exp-\d|gcn\d|tioga\d|[a-z]\d{3}-\d{3}|[a-z]-?\d{3}|(?:node|compute|login|dgx|hgx)-?\d{1,2}",
        r"(?P<v>\b(?:nid\d{4,}|x\d{4}c\d+s\d+b\d+n\d+|[a-z]\d{3}-\d{3}"
        r"|(?:node|compute|cnode|gpunode|worker|login|dgx|hgx|gpu[a-z]?|cn|gn|gh|lrdn|jrc?c?|jwb|frontier|crusher|tuolumne|uan|tg|ip)"
        r"-?\d{3,}(?:-\d{1,3}){0,3}(?:-n\d+)?|(?:node|compute|cnode|gpunode|login|dgx|hgx)-?\d{1,2}|[hr]\d{1,3}n\d{1,3}|exp-\d{1,2}-\d{2}|gcn\d{1,3}|tioga\d{1,3})(?![\w.]))",
        is_node,
    ),
    MaskingRule("HOST", r"[a-z]-?\[[\d,-]+\]", r"\b(?P<v>[a-z]{1,12}-?\[(?=\d+-|0\d)\d{2,}[\d,-]{0,400}\])"),
    MaskingRule(
        "HOST",
        rf"\.{TLD}\b",
        rf"(?i)(?:(?<=://)|(?<=\d\d\.)|(?<![\w@./-]))(?P<v>[a-z][\w-]{{0,62}}(?:\.[\w-]{{1,62}}){{0,5}}\.{TLD})(?![\w(-]|\.\w)",
        is_private_host,
    ),
)

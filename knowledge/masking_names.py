"""What names a person, or a computer's address inside a site. Read together with masking_keys.py, by masking.py.

What an answer needs stays in sight: accounts, nodes, devices, buckets, repositories, public keys (docs/security.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from knowledge.masking_rule import MaskingRule
from knowledge.masking_table import KINDS

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
    r"(?i)(?:\d{1,3}x)?(?:gpu[-_]?)?(?:a10g?|a[34]0|a100|h[12]00|b[23]00|g[bh][23]00|v100|p100|k80|l40?s?|l4|t4|mi\d{2,3}[ax]?|max1\d{3}|rtx\w*)s?(?:[-_].*)?"
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
    plain = len(value) < 3 or value.lower().strip(".") in COMMON or value.isdigit() or CLOCK.fullmatch(value)
    return not (plain or "YOUR_" in value or HARDWARE.fullmatch(value) or OF_FIELD.fullmatch(value))


def is_ordinary(value: str) -> bool:
    """A word of the language or of the field, as our own texts have it, without a digit."""
    from knowledge.public import is_shipped, vocabulary  # which reads this module's neighbours

    plain = value.lower().strip(".")
    return plain in vocabulary() or (plain.isalpha() and is_shipped(plain))


def is_mentioned(value: str) -> bool:
    """The same where only a sentence says that it is a name: no word of the language."""
    return is_name(value) and not is_ordinary(value)


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


# What stands for the user's name in an address to log in at.
NOBODY = re.compile(
    r"(?i)(?:your|my|x)?[-_.]?(?:user(?:[-_]?name)?|usuario|utente|utilisateur|benutzer|login(?:[-_]?name)?)|you"
)


def is_mail(value: str) -> bool:
    """An address of a person; those of a help desk and of a repository are public, and a login is none."""
    name, _, domain = value.partition("@")
    if NOBODY.fullmatch(name):
        return False
    if is_private_host(domain) or re.match(r"\w*\d|login", domain.partition(".")[0]):
        return False
    return not re.match(r"(?i)(?:help|support|info|no-?reply|consult\w*|security|git|hg|contact|admin|abuse)@", value)


def is_private_host(value: str) -> bool:
    """A full name that tells of a site's inside: an inner domain, or a numbered machine that is no node of a job."""
    from knowledge.public import is_shipped  # which reads this module's neighbours

    first, _, domain = value.lower().partition(".")
    if is_public_host(value.lower()) or NODE.fullmatch(first) or is_shipped(domain):
        return False
    return domain.rpartition(".")[2] in INNER or ("." in domain and bool(re.search(r"\d|^login", first)))


INNERMOST = "local internal lan cluster hsn intra corp private localdomain hpc ib cm juwels jureca"
INNER = frozenset(INNERMOST.split())
PUBLIC_HOST = re.compile(
    r"(?:^|\.)(?:github|gitlab|pytorch|nvidia|huggingface|pypi|python|pythonhosted|anaconda|docker|quay|nvcr|amazonaws|googleapis"
    r"|readthedocs|wandb|example|microsoft|arxiv|kernel|debian|ubuntu|openai|schedmd|stackoverflow|ghcr|hf)\.(?:com|org|io|ai|co|net|edu)$"
)
TLD = (
    r"(?:edu|gov|com|org|net|int|mil|io|ai|de|fr|ch|it|es|fi|se|no|dk|nl|be|at|pl|cz|eu|uk|jp|cn|kr|in|au|ca|br|us"
    r"|local|internal|lan|cluster|hsn|intra|corp|private|localdomain|hpc|cm|juwels|jureca|invalid|test)"
)
# A node of a job, whose name the answer needs: nid001234, x1000c0s0b0n0, c301-004, h36n04, gpu17.
NODE = re.compile(r"x\d{4}c\d\w*|[a-z]{1,12}\d{3,}|[a-z]\d{1,4}[-n]\d{1,4}|(?:gpu|cn|node|dgx)[a-z]?-?\d{1,4}(?:-\d+)*")
QUEUES = (
    r"(?:squeue|qstat|sacct|scancel|sprio|sshare|bjobs|bkill|pkill|qselect|qdel|flux jobs|htop|top|quota|lfs quota)"
)

PERSONAL: tuple[MaskingRule, ...] = (
    MaskingRule("USER", r"\buser\s", r"\b[Uu]ser\s{1,3}(?P<v>[a-z][a-z._-]{1,20}\d{1,6})\b", is_name),
    MaskingRule(
        "MAIL",
        r"@[\w.-]+\.",
        r"(?<![\w.+-])(?P<v>[\w.+-]{1,64}@[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}){0,6}\.[A-Za-z]{2,24})\b",
        is_mail,
    ),
    MaskingRule("USER", r"://[^/@:]+:[^/@]*@", r"://(?P<v>[A-Za-z][\w.-]{1,31}):[^\s/@]{1,200}@", is_name),
    # Prompts, ssh targets, licence servers: user@host and port@host.
    MaskingRule(
        "USER",
        r"\w@\w",
        r"(?<![\w.+/-])(?P<v>[A-Za-z][\w.-]{1,31})@(?!sha256|v\d|[abhv]\d00\b)(?=[A-Za-z][\w-]{0,40}(?:\d|[:~])|[a-z0-9]{2,20}[\s:])",
        is_name,
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
    MaskingRule("USER", r"logged in as", r"(?i)\blogged in as:?\s+(?P<v>[A-Za-z][\w.-]{0,39}\w)", is_mentioned),
    MaskingRule(
        "USER",
        r"(?:user(?:name|_?id)?|logname|uname|owner)[\"']?\s*[=:]",
        r"(?i)\b(?:[a-z]\w{0,40}_)?(?:e?user(?:name|_?id)?|logname|uname|job_owner|mail-user)[\"']?\s{0,3}[=:]\s{0,3}"
        r"(?:[\"'](?P<w>[A-Za-z][\w.-]{1,40})(?=[\"'@])|(?P<v>[A-Za-z][\w.-]{1,40})(?=[\s\"',;)\]@(]|$))",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"(?:user(?:name|_?id)?|logname|uname|owner)[\"']?\s*[=:]",
        r"(?i)\b(?:[a-z]\w{0,40}_)?(?:e?user(?:name|_?id)?|logname|uname|job_owner|mail-user)[\"']?\s{0,3}[=:]\s{0,3}"
        r"[\"'](?P<v>[A-Za-z][\w.-]{1,40})(?=[\s,;)\](]|$)",  # whose quote goes on: a sentence, or a full name
        is_mentioned,
    ),
    MaskingRule(
        "USER",
        r"id=",
        r"\b(?:UserId|uid|euid|USERID)=(?:\d{1,10}\()?(?P<v>[A-Za-z][\w.-]{1,40})\b",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"\b(?:for|by|as|of|invalid|unknown|su|such) (?:the )?user ",
        r"(?i)\b(?:for|by|as|of|invalid|unknown|su|no such) (?:the )?user "
        r"(?P<q>['\"]?)(?P<v>[A-Za-z][\w.-]{1,40})(?P=q)(?=[\s:,;.)]|$)",
        is_mentioned,
    ),
    MaskingRule("USER", r"user ['\"]", r"(?i)\buser ['\"](?P<v>[A-Za-z][\w.-]{1,40})['\"]", is_mentioned),
    MaskingRule("USER", r"machine\s.*\slogin\s", r"(?i)\bmachine\s+\S{1,80}\s+login\s+(?P<v>\S{2,60})", is_name),
    MaskingRule("USER", r"~[a-z]", r"(?<![\w/])~(?P<v>[a-z][\w-]{1,31})(?=/)", is_name),
    # Without a folder behind it a word may as well be `about`: `eta:~now`.
    MaskingRule("USER", r"~[a-z]", r"(?<![\w/])~(?P<v>[a-z][\w-]{1,31})(?=\s|$)", is_mentioned),
    MaskingRule("USER", r":\\users\\", r"(?i)\b[A-Z]:\\Users\\(?P<v>[^\\\s]{1,40})"),
    MaskingRule(
        "HOST",
        rf"\.{TLD}\b",
        rf"(?i)(?:(?<=://)|(?<=\d\d\.)|(?<![\w@./-]))(?P<v>[a-z][\w-]{{0,62}}(?:\.[\w-]{{1,62}}){{0,5}}\.{TLD})(?![\w(-]|\.\w)",
        is_private_host,
    ),
    MaskingRule(
        "USER",
        r"\s(?:-u|--users?)",
        rf"\b{QUEUES}\b[^\n]{{0,120}}?\s(?:-u|--users?)[= ]?(?P<v>[A-Za-z][\w.-]{{1,40}})",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"[r-][w-][xs-][r-].*\s\d+\s",
        r"(?<!\S)[dlbcps-](?:[rwxsStT-]{9})[.+@]?\s+\d+\s+(?P<v>[A-Za-z][\w.-]{1,40})\s",
        is_name,
    ),
    # One row of squeue or qstat without its head.
    MaskingRule(
        "USER",
        r"^\s*\d[\d_+\[\]-]*\s+\S+\s+\S.*\s[a-z]{1,2}\s+[\d:-]+\s",
        r"^\s*\d{3,12}[\d_+\[\]-]*\s+\S+\s+\S{1,60}\s+(?P<v>[A-Za-z][\w.-]{1,40})\s+(?:R|PD|CG|CD|CF|F|TO|S|CA|NF|OOM|PR)\s+[\d:-]+\s",
        is_name,
    ),
    MaskingRule(
        "USER",
        r"^\d+(?:\[\])?\.[\w.-]+\s",
        r"^\d{2,12}(?:\[\])?\.[\w.-]+\s+\S{1,60}\s+(?P<v>[A-Za-z][\w.-]{1,40})\s+[\d:]+\s+[QRHEFBSCMTUWX]\s",
        is_name,
    ),
    MaskingRule(
        "USER", r"\b(?:author|committer):\s+[\w.-]+ <", r"\b(?:Author|Committer):\s+(?P<v>[\w.-]{2,40}) <", is_name
    ),
    MaskingRule(
        "USER",
        r"\bmy (?:user ?name|user ?id|login|account name)",
        r"(?i)\bmy (?:user ?name|user ?id|login|account name)(?: is|:)\s+[\"'`]?(?P<v>[A-Za-z][\w.-]{1,40}\b)",
        is_mentioned,
    ),
    MaskingRule("PERSON", r"\bmy name is ", r"(?i:\bmy name is) (?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,3})"),
    MaskingRule(
        "PERSON",
        r"(?:regards|wishes|cheers|sincerely),? ",
        r"\b(?i:regards|wishes|cheers|sincerely),? (?P<v>[A-Z][\w'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,2})(?=[\s.]*$)",
    ),
)

# The word at the head of a column below which users stand.
OF_USERS = frozenset(("user", "username", "owner"))
# A head: three words or more that each begin with a capital and stand apart, or any above a line of dashes.
HEAD = re.compile(
    r"(?m)^[ |]*(?=[^\n]{0,300}\b(?i:user(?:name)?|owner)\b)"
    r"(?:[A-Z%][\w%()/#.]{0,30}(?:(?: +|\|)[A-Z%][\w%()/#.]{0,30}){2,30}[ |]*$|[A-Z][\w%()/# .|]{10,300}\n[ |]*---)"
)
GAP = re.compile(r" {2,}|\|")
CELL = re.compile(r"[^\s|]+")
VALUE = re.compile(r"[A-Za-z0-9][\w.\[\],-]{1,60}")
# What ends a table without an empty line: the settings that scontrol prints.
OF_SETTINGS = re.compile(r"^\s*[A-Z]\w{2,30}=\S")
# And a shell's prompt; a line set in below a job is what the scheduler remarks on it.
PROMPT = re.compile(r"^(?:\[?[\w.-]+@[\w.-]+[^$#>%\n]{0,60}[$#>%]|\$) \S")
REMARK = re.compile(r"^ {2,}(?:Not Running|Can Never Run|Job (?:run|held|was|will|has|is)|Not enough|Will )")
MOST_ROWS, MOST_LETTERS = 500, 100_000


def columns(text: str) -> Iterator[tuple[int, int, str]]:
    """The users in tables with a head, as squeue, sacct, sacctmgr, qstat and ps print them."""
    end = 0
    for head in HEAD.finditer(text):
        if head.start() < end:
            continue
        line = head[0].partition("\n")[0]
        if "\n" not in head[0] and len(GAP.findall(line)) < 2:
            continue
        end = start = head.start() + len(line) + 1
        for row in text[start : start + MOST_LETTERS].split("\n")[:MOST_ROWS]:
            if not row.strip() or OF_SETTINGS.search(row) or PROMPT.match(row):
                break
            remark = REMARK.match(row)
            for at, value in () if remark else cells(line, row):
                if is_name(value):
                    yield end + at, end + at + len(value), "USER"
            end += len(row) + 1


def cells(head: str, row: str) -> Iterator[tuple[int, str]]:
    """Where in a row what stands below the telling heads: by place, or by number where bars part the columns."""
    if "|" in head:
        starts = [0, *(match.end() for match in re.finditer(r"\|", row))]
        named = zip(head.split("|"), row.split("|"), starts, strict=False)
        found = [(word.strip(), cell.strip(), start + len(cell) - len(cell.lstrip())) for word, cell, start in named]
    else:
        over, below = list(CELL.finditer(head)), list(CELL.finditer(row))
        found = [(o[0], b[0], b.start()) for o in over for b in below if b.start() < o.end() and o.start() < b.end()]
    for word, cell, start in found:
        value = VALUE.match(cell) if word.lower() in OF_USERS else None
        if value:
            yield start, value[0]


# What a word may be, in any case, and stand for a name: a placeholder of ours or of a template.
PLACED = re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{KINDS}|PRIVATE|HIDDEN|REDACTED|NAME)_\d{{1,3}}(?!\d)")
# German, French, Spanish and Italian words of templates are among them.
TEMPLATE = """
    your my our me own name names id code number no here short some any put insert change fill todo xxx xxxx
    replace with allocation alloc allocname charge budget bank group team grant award proj projid projectid
    projectname acct accountname accountid username userid login loginname konto kontoname projekt projektname
    benutzer benutzername nutzer compte projet utilisateur nom cuenta proyecto usuario nombre conto progetto
    utente nome placeholder example foo bar
"""
TEMPLATE_WORDS = frozenset(TEMPLATE.split()) | COMMON
SIGNAL = re.compile(
    r"(?:SIG)?(?:USR[12]|USER[12]|TERM|INT|HUP|KILL|STOP|CONT|QUIT|ABRT|SEGV|BUS|ALRM|CHLD|PIPE|FPE|ILL|URG|TSTP)"
)
ARCHITECTURE = re.compile(r"(?i)x86(?:[-_]64)?|aarch64|arm64|amd64|ppc64(?:le)?|noarch|linux(?:[-_]\w+)?|manylinux\w*")
LETTERS = re.compile(r"[^\W\d_]+")


# A part of a name in capitals that makes it a placeholder: PSC_USERNAME, YOUR_ACCOUNT.
OF_PLACES = "YOUR MY USER USERNAME NAME LOGIN ACCOUNT PROJECT GROUP NODE NODENAME HOST HOSTNAME JOBID USUARIO"
PLACE_PARTS = frozenset(OF_PLACES.split())


def is_placeholder(value: str) -> bool:
    """Whether a word stands for a name that somebody is to put there."""
    return value.isupper() and bool(PLACE_PARTS & set(re.split(r"[_.-]", value)))


def names_nobody(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no name: a variable, a placeholder, a word of a template, a signal, a unit."""
    value, before = text[start:end], text[max(0, start - 2) : start]
    if before.endswith(("$", "%", "{{")) or before == "${" or (before.endswith("<") and text[end : end + 1] == ">"):
        return True
    if PLACED.search(value) or is_placeholder(value) or SIGNAL.fullmatch(value) or ARCHITECTURE.fullmatch(value):
        return True
    words = LETTERS.findall(value.lower())
    short = sum(map(str.isdigit, value)) < 2
    return short and all(word in TEMPLATE_WORDS or set(word) == {"x"} for word in words)

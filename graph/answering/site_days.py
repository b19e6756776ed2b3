"""Daily life on a machine: account, space, login, transfer, interactive work, software, charging, support."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from graph.answering.asking import named_queue
from graph.answering.fact_answer import spell
from graph.answering.situation import Situation, cite, list_steps, write_document
from graph.planning.plan import charge as charged_to
from knowledge.cluster import Cluster, walltime_seconds
from knowledge.document import Document, Paragraph, Steps
from knowledge.schedulers.times import asked_time
from knowledge.site import Site, site_of

LARGE = re.compile(r"\b(?:tb|terabytes?|\d{3,}\s*gb|large|big|huge|globus)\b", re.I)
# Pages that are cited with one answer, at most.
MOST_PAGES = 3
# How a fact was read is for those who keep it: a sentence of nothing but a page, or on what could not be read.
NOT_FOR_READERS = re.compile(
    r"^https?://\S+(?: and \S+)?(?: \([^)]*\))?\.?$"
    r"|\b(?:pages?|rules?|forms?|hours|numbers|setting|read)\b[^.]*\b(?:not read|read here)\b|^hours not read",
    re.I,
)
PLACES = (r"\bscratch\b|checkpoint", r"\bhome\b", r"\bwork\b", r"\bprojects?\b", r"\barchive\b|\bhpss\b")
# What stands before the commands that make an environment.
IN_WORDS = re.compile(r"(?P<where>(?:on|in|where|extra|further|inside)\b[a-z ,()]{4,60}): ")
OF_SCRATCH = re.compile(r"\bscratch\b|\bcheckpoints?\b|\borion\b|\beagle\b|\blustre\b", re.I)
WITHOUT_BACKUP = re.compile(
    r"\b(?:scratch|lustre|orion|eagle|work)\b[^.;]*\b(?:none|no backup|not|never)\b"
    r"|nothing else is backed up|^none\b|\bno backups?\b",
    re.I,
)
FULL = re.compile(r"\b(?:exceeded|full|over (?:the )?quota|no space|cannot write|errno 122)\b", re.I)
REFUSED = re.compile(
    r"\b(?:denied|refus\w+|can(?:not|'?t| not)|doesn'?t|not (?:log|get)|fail\w*|locked|reset|wrong)\b", re.I
)
GPUS_SAID = re.compile(r"\b(\d{1,5})\s*(?:x\s*)?(?:gpus?|cards?|gcds?)\b", re.I)
HOURS_SAID = re.compile(r"\b(\d{1,4}(?:\.\d+)?)\s*(?:h|hrs?|hours?)\b", re.I)
FACTOR = re.compile(r"charge factor (\d+(?:\.\d+)?)")
MODULE_NAMED = re.compile(r"\b([a-z][\w+-]*/\d[\w.+-]*)", re.I)
NO_PROJECT = re.compile(r"\b(?:no active (?:project|allocation|account)|project (?:has )?(?:ended|expired))\b", re.I)
INSIDE = re.compile(r"\b(?:in (?:that|it|the job|my job|this)|laptop|reach|tunnel|port|browser)\b", re.I)
FOREIGN = re.compile(
    r"\b(?:mac|macbook|laptop|windows|from home|my own computer|copy|another (?:machine|cluster))\b", re.I
)
ENDS_EARLY = re.compile(
    r"(?i)\b(?:s?cancel\w*|kill\w*|qdel|early|earlier|sooner|unused|asked|requested|reserved|actual\w*|abbrech\w*)\b"
)
ENVIRONMENT = re.compile(r"(?i)\b(?:(?:mini|ana)?conda|environments?|v?envs?|umgebung\w*|entornos?|environnements?)\b")
KEPT = re.compile(
    r"(?i)\b(?:weights?|(?:hf|hugging ?face|llama)\w*|models?|modell\w*|modelos?|mod[eè]les?|data|datasets?|daten\w*"
    r"|datos|donn[ée]es|dati|gewichte)\b|\d\s*[gt]i?b\b"
)
# Where what is to stay is put, the best first, as far as a machine has it.
KEEPING = ("project", "community", "work", "group", "project_work", "store", "workspace", "scratch")
ROOM = re.compile(r"(?i)(\d[\d,]*)\s*([gt])i?b\b")
NOTEBOOK = re.compile(r"(?i)\b(?:notebooks?|ipynb)\b")
OF_THE_HUB = re.compile(r"(?i)\b(?:hf|hugging ?face\w*|pip)\b")
DOWNLOADS = re.compile(r"(?i)\b(?:hf|hugging ?face\w*|weights?|models?|download\w*|pip|wandb)\b")
AS_PROGRAM = "A notebook runs in a job as a program: `jupyter nbconvert --to script NAME.ipynb` makes NAME.py of it."
# Values of a line for interactive work that a person may have said.
TIME_THERE = re.compile(r"(--time[ =]|-t |walltime=)[\d:]+h?")
ACCOUNT_THERE = re.compile(r"(--account[ =]|-[AP] )\S*<[^>]+>[^\s`]*")
GPUS_THERE = re.compile(r"(--gpus(?:-per-node)?[ =]|--gres=gpu:(?:[a-z]\w*:|[a-z]\w*-\d+:)?)(\d+)\b")
SHARE_OF_GPUS = re.compile(r"(--cpus-per-task=|--mem=)(\d+)")
ONE_GPU = re.compile(r"(?i)\b(?:an?|one|single|eine?|une?|una)\s+(?:single\s+)?gpu\b")
APPLY = re.compile(r"\b(?:get|apply|request|new|need an?|join|access)\b", re.I)

Teller = Callable[[Cluster, Site, Situation], Document]


def tell_site(topic: str, situation: Situation) -> Document | None:
    """What is known of a `site.*` topic on the machine that is spoken of; None: no machine, or nobody wrote it down."""
    site = site_of(situation.cluster.id) if situation.cluster else None
    teller = TELLERS.get(topic)
    if situation.cluster is None or site is None or teller is None:
        return None
    told = teller(situation.cluster, site, situation)
    tidied = [Paragraph(tidy(part.text)) if isinstance(part, Paragraph) else part for part in told.parts]
    known = write_document(*(part for part in tidied if part != Paragraph("")))
    return known if known.parts else None


def lay_out(site: Site, pages: Iterable[str], *parts: str) -> Document:
    """Sentences as paragraphs, and the first pages with the file's date."""
    return write_document(*parts, cite([*pages][:MOST_PAGES], site.as_of))


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s+(?=[A-Z$/\[h(])", text)


def first_about(text: str, question: str) -> str:
    """The same sentences, those first that speak of a place which the question names."""
    named = [words for words in PLACES if re.search(words, question, re.I)]
    return " ".join(sorted(sentences(text), key=lambda one: not any(re.search(w, one, re.I) for w in named)))


def tidy(text: str) -> str:
    """Without pages in brackets, which stand below, and without words on how the fact was read."""
    text = re.sub(r"\s*(?:\(?\[(?:LC|NOTES)\]\)?|\((?:phone: )?https?://[^)]*\)|\(see corrections\))", "", text)
    text = re.sub(r"[;,] [^;,.]*\bnot read\b(?! for)[^;,.]*", "", text)
    told = [one for one in sentences(text) if not NOT_FOR_READERS.search(one)]
    return " ".join(told)


def label(name: str, text: str) -> str:
    return f"**{name}:** {text}" if text else ""


def account(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """Where to find it, how the script names it; how to get one and the refusals where that is asked."""
    facts = site.account
    refused = REFUSED.search(situation.text) or re.search(r"\b(?:invalid|error|reject\w*)\b", situation.text, re.I)
    return lay_out(
        site,
        facts.sources,
        label(f"Find yours on {cluster.title}", facts.find_mine),
        label("In the script", facts.form),
        of_names(cluster, situation.text),
        "" if cluster.account.needed else f"A job on {cluster.title} need not name it.",
        facts.what_it_is,
        label("A new one", facts.apply) if APPLY.search(situation.text) else "",
        *(facts.errors if refused else ()),
    )


def of_names(cluster: Cluster, text: str) -> str:
    """For which GPUs each account name that was shown is; without any, how the names end."""
    ends = [(node.gpus.model, end) for node in cluster.node_types if (end := cluster.account.suffix_for(node.id))]
    words = dict.fromkeys(re.findall(r"[a-z][\w@.-]*[\w]", text, re.I))
    known = [
        f"`{word}` for jobs on {model}" for word in words for model, end in dict(ends).items() if word.endswith(end)
    ]
    return label("Of these", "; ".join(known)) or (label("Names", cluster.account.note or "") if ends else "")


def balance(cluster: Cluster, site: Site, situation: Situation) -> Document:
    told = site.account.balance or site.account.find_mine
    return lay_out(site, site.account.sources, label(f"What is left on {cluster.title}", told))


def quota(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The limit of the place that is asked about, or all; a full one is told with what to clear first."""
    asked = {name: text for name, text in site.quota.limits.items() if name.replace("_", " ") in situation.text.lower()}
    limits = "; ".join(f"{name}: {text}" for name, text in (asked or site.quota.limits).items())
    full = FULL.search(situation.text) is not None
    clear = list_steps(
        ("see what is large", "du -xh --max-depth=2 ~ | sort -h | tail -20"),
        ("mostly it is pip's and conda's caches", "pip cache purge; conda clean --all --yes"),
        ("models: put the cache elsewhere, in the job too", f"export HF_HOME={cache_of(cluster)}/hf"),
    )
    return write_document(
        f"On {cluster.title}, {limits}." if not full else f"A place is full. On {cluster.title}, {limits}.",
        label("What you use", site.quota.command),
        clear if full else None,
        label("Environments", site.software.own_env) if full else "",
        label("Above it", site.quota.over) if full or not asked else "",
        label("More", site.quota.increase) if full or not asked else "",
        *site.quota.errors,
        cite(site.quota.sources[:MOST_PAGES], site.as_of),
    )


def cache_of(cluster: Cluster) -> str:
    """The place for large files by the machine's facts: its scratch, as far as it is a path or a variable."""
    found = re.search(r"\$(?!USER)\w+|/[\w./<>$-]+", cluster.filesystems.get("scratch", ""))
    return found[0] if found else "<scratch or project folder>"


def purge(cluster: Cluster, site: Site, situation: Situation) -> Document:
    if site.purge is None:
        return write_document()
    return lay_out(
        site,
        site.purge.sources,
        label(f"Deleted on {cluster.title}", site.purge.scratch),
        label("Kept", site.purge.exempt),
        label("Environments belong", site.software.own_env) if ENVIRONMENT.search(situation.text) else "",
        label("Backup", first_about(site.backup.text, situation.text)) if site.backup else "",
    )


def backup(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """No first, where scratch is asked about and has none; then what has one, and what is deleted by age."""
    if site.backup is None:
        return purge(cluster, site, situation)
    text = site.backup.text
    named = any(re.search(words, situation.text, re.I) for words in PLACES)
    lost = OF_SCRATCH.search(situation.text if named else situation.before) and WITHOUT_BACKUP.search(text)
    gone = "What was deleted there is gone." if lost else ""
    scratch = label("Deleted by age", site.purge.scratch) if site.purge else ""
    return lay_out(
        site,
        [*site.backup.sources, *(site.purge.sources if site.purge else ())],
        f"No: scratch of {cluster.title} has no backup. {gone}" if lost else "",
        label(f"Backup on {cluster.title}", text if lost else first_about(text, situation.text)),
        scratch,
    )


def login(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """How to get in; where it refuses, what to look at first."""
    if site.retired:
        gone = f"{cluster.title} is gone since {site.retired.date}: {site.retired.what}"
        return lay_out(site, site.retired.sources, gone)
    refused = REFUSED.search(situation.text) is not None
    known = [label(f"Known on {cluster.title}", site.login.trouble), *site.login.errors]
    checks = (
        "In this order: the right host and user name; the token or code (its time, and whether it is paired); too many "
        "tries, which lock for a while; whether the account is active and belongs to a project that has not ended "
        "(only the "
        "PI or the site's portal changes that). `ssh -vvv` shows at which step it stops. I cannot see from here "
        "whether "
        "something is broken there now."
    )
    project = NO_PROJECT.search(situation.text) is not None
    active = f"Yes, that is it: {cluster.title} lets in who belongs to an active project; the PI adds or renews it."
    parts = (active if project else "", *known, "" if project else checks) if refused or project else ()
    return lay_out(
        site,
        site.login.sources,
        *parts,
        label("How it goes there" if parts else f"On {cluster.title}", site.login.how),
        label("Hosts", ", ".join(site.login.hosts)),
        *(() if parts else known),
        label("Help", site.support.text),
    )


def transfer(cluster: Cluster, site: Site, situation: Situation) -> Document:
    small, large = label("A few files", site.transfer.small), label("Much data", site.transfer.large)
    order = (large, small) if LARGE.search(situation.text) else (small, large)
    first = before_the_job(cluster) if OF_THE_HUB.search(situation.text) else ""
    return lay_out(site, site.transfer.sources, first, *order, *site.transfer.more)


def storage(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The place that fits first, then all of them, and what is deleted."""
    places = {name: text for name, text in cluster.filesystems.items() if name != "note"}
    wanted = [f"{name}: {text}" for name, text in places.items() if re.search(rf"\b{name}\b", situation.text, re.I)]
    scratch = places.get("scratch", "")
    rule = (
        f"Checkpoints and data of running jobs go to scratch on {cluster.title}{f' ({scratch})' if scratch else ''}; "
        f"code and "
        "environments to project space or home. Copy what must last away from scratch."
    )
    rest = "; ".join(f"{name}: {text}" for name, text in places.items())
    return lay_out(
        site,
        (*site.quota.sources[:2], *(site.purge.sources if site.purge else ())),
        place_for(cluster, site, situation.text) or (f"{'; '.join(wanted)}." if wanted else ""),
        re.sub(r"\s*[;,.(]?\s*[Ss]ources? https?://.*", "", cluster.filesystems.get("note", "")),
        rule,
        label("Places", rest),
        label("Deleted by age", site.purge.scratch) if site.purge else "",
    )


def place_for(cluster: Cluster, site: Site, text: str) -> str:
    """The place for what is to be stored, of which sort that is said; with a no, where home was thought of."""
    if ENVIRONMENT.search(text) and site.software.own_env:
        return label("Environments", site.software.own_env)
    size = gigabytes(text)
    fits = [
        (name, told)
        for name in KEEPING
        if (told := cluster.filesystems.get(name)) and "not for jobs" not in told and not gigabytes(told) < size
    ]
    if not fits or not KEPT.search(text):
        return ""
    home = cluster.filesystems.get("home", "")
    no = f"Not home ({site.quota.limits.get('home') or home}). " if re.search(r"(?i)\bhome\b", text) else ""
    return f"{no}**What is to stay:** {fits[0][0].replace('_', ' ')}: {fits[0][1]}."


def gigabytes(text: str) -> float:
    """The first size in a text; of none no bound is known."""
    found = ROOM.search(text)
    return float(found[1].replace(",", "")) * (1000 if found[2] in "tT" else 1) if found else float("nan")


def before_the_job(cluster: Cluster) -> str:
    """How what a job reads from the net comes there before it starts."""
    told = {"no": f"Compute nodes of {cluster.title} do not reach the internet: {cluster.internet.beforehand}."}
    return (
        f"{told.get(cluster.internet.access, '')} What is large is loaded once, before the job, with "
        f"`HF_HOME={cache_of(cluster)}/hf` as in the job; there `HF_HUB_OFFLINE=1` keeps the hub from being asked."
    )


def local_disk(cluster: Cluster, site: Site, situation: Situation) -> Document:
    disks = "; ".join(dict.fromkeys(f"{k.id}: {k.local_disk}" for k in cluster.node_types if k.local_disk))
    none = f"The facts that I have name no disk on the nodes of {cluster.title}; `/tmp` there may be memory."
    pages = [kind.source for kind in cluster.node_types if kind.source]
    if not disks:
        return lay_out(site, pages, none)
    stage = (
        "*stage PATH to the local disk* adds the copy to a script; data larger than the disk has to be split over the "
        "nodes."
    )
    return lay_out(site, pages, f"Yes, on the nodes of {cluster.title}: {disks}.", stage)


def interactive(cluster: Cluster, site: Site, situation: Situation) -> Document:
    facts = site.interactive
    line, over = fitted(cluster, facts.gpu, facts.limits, situation)
    return lay_out(
        site,
        facts.sources,
        f"On {cluster.title}: `{line}`" if is_command(line) else f"On {cluster.title}: {line}",
        over,
        label("Limits", facts.limits),
        label("Also", facts.also),
        *facts.errors,
    )


def fitted(cluster: Cluster, line: str, limits: str, situation: Situation) -> tuple[str, str]:
    """A site's line for interactive work with the time, account and GPUs that were said; a time above what there is
    stays out, and is told."""
    said = {one.kind: one for one in reversed(situation.mentions) if one.kind in ("Duration", "Account")}
    request, over = situation.request, ""
    if "Account" in said:
        request = replace(request, account=str(said["Account"].value))
    if request.account:
        node = cluster.node_type(cluster.default_queue.node_types[0])
        name = charged_to(request, cluster, node)[0]
        line = ACCOUNT_THERE.sub(rf"\g<1>{name}", line, count=1)
    if "Duration" in said:
        seconds = float(said["Duration"].value)
        named = named_queue(line.lower(), cluster)
        hours = [float(one) for one in re.findall(r"(\d+) ?h(?:ours?)?\b", limits)]
        most = walltime_seconds(named.max_walltime) if named and named.max_walltime else max(hours, default=0) * 3600
        if most and seconds > most:
            over = f"{said['Duration'].text} is more than the {most / 3600:g} h there are."
        else:
            form = asked_time(cluster.scheduler, seconds)
            line = TIME_THERE.sub(rf"\g<1>{form}", line, count=1)
    cards = [int(one.value) for one in situation.mentions if one.kind == "Quantity" and one.unit == "gpu"]
    wanted = cards[0] if cards else int(ONE_GPU.search(situation.text) is not None)
    command, opening, rest = line.partition("(")
    there = GPUS_THERE.search(command)
    most = max(kind.gpus.devices_per_node or 0 for kind in cluster.node_types)
    if there and 0 < wanted <= most and "whole node" not in limits:
        command = SHARE_OF_GPUS.sub(lambda one: f"{one[1]}{int(one[2]) * wanted // int(there[2])}", command)
        command = GPUS_THERE.sub(rf"\g<1>{wanted}", command, count=1)
    return command + opening + rest, over


def jupyter(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The site's service, and the tunnel into a job of one's own where that is asked."""
    hosts = site.login.hosts
    tunnel = list_steps(
        ("in the job, on its node", "jupyter lab --no-browser --ip=127.0.0.1 --port=8888"),
        (
            "on your computer, NODE being the job's node",
            f"ssh -L 8888:127.0.0.1:8888 -J USER@{host_name(hosts)} USER@NODE",
        ),
        ("open the address with its token that jupyter printed", ""),
    )
    own = INSIDE.search(situation.text) is not None and bool(hosts)
    if site.jupyter is None:
        none = f"I know of no Jupyter service on {cluster.title}; in a job of your own it goes like this:"
        return write_document(none, tunnel, cite(site.interactive.sources[:MOST_PAGES], site.as_of))
    return write_document(
        f"On {cluster.title}: {site.jupyter.how}",
        *site.jupyter.more,
        AS_PROGRAM,
        "Inside a job of your own (where the site lets you ssh to its nodes):" if own else "",
        tunnel if own else None,
        cite(site.jupyter.sources[:MOST_PAGES], site.as_of),
    )


def host_name(hosts: tuple[str, ...]) -> str:
    """The first host, without the words behind it."""
    return hosts[0].split()[0].rstrip(",;") if hosts else "LOGIN"


def modules(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The module that is named and what became of it; else how PyTorch comes, ready or made."""
    software = cluster.software["default"]
    lines = list(software.lines)
    pages = [page for page in (software.source, *site.software.sources) if page]
    named = MODULE_NAMED.search(situation.text)
    gone = of_module(cluster, site, named[1]) if named else []
    ready = (
        any(re.search(r"\b(?:py)?torch|\bload\s+\S*(?:conda|ai|ml)\S*", line, re.I) for line in lines)
        and not software.settings
    )
    none = re.search(r"\bno ready PyTorch", software.note or "", re.I) is not None
    ways = (
        f"No ready PyTorch module on {cluster.title}; jobs load:"
        if none
        else f"On {cluster.title} jobs get PyTorch with:"
    )
    opening = ways if not ready else f"On {cluster.title} PyTorch comes with:"
    where, create = way_to_make(software.create or "")
    version = (
        "Which version that is: `module avail` lists them; in the environment "
        "`python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.version.hip)'`."
        if re.search(r"\bversions?\b", situation.text, re.I)
        else ""
    )
    return write_document(
        *gone,
        version,
        opening if lines else f"On {cluster.title} I know of no PyTorch module.",
        list_steps(("", "\n".join(lines))) if lines else None,
        "" if ready or not create else f"and use an environment of your own, made once {where}:",
        None if ready or not create else list_steps(("", create)),
        label("Search", site.software.find),
        software.note or "",
        cite(pages[:MOST_PAGES], site.as_of),
    )


def way_to_make(create: str) -> tuple[str, str]:
    """Where an environment is made, and the commands: `where there is internet: conda create ...`."""
    found = IN_WORDS.match(create)
    return (found["where"], create[found.end() :]) if found else ("on a login node", create)


def of_module(cluster: Cluster, site: Site, named: str) -> list[str]:
    """What the facts say of a module by its name, and which version is loaded there now."""
    name = named.split("/")[0].lower()
    loaded = [line for line in cluster.software["default"].lines if re.search(rf"\b{re.escape(name)}/", line, re.I)]
    texts = [*cluster.gotchas, *cluster.notes, *(change.text for change in site.changes)]
    told = [one for text in texts for one in sentences(text) if re.search(rf"\b{re.escape(name)}\b", one, re.I)][:2]
    now = f"Load `{loaded[0].split()[-1]}` in place of `{named}`." if loaded and named not in loaded[0] else ""
    return [part for part in (now, *told) if part]


def environment(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """Conda first where it is asked for; then the way that is known to work there."""
    where, create = way_to_make(cluster.software["default"].create or "")
    conda = re.search(r"\b(?:conda|mamba|anaconda)\b", situation.text, re.I) is not None
    told = [label("Conda", site.software.conda), label("Your own environment", site.software.own_env)]
    foreign = (
        "An environment from another computer does not go along: its packages were built for that one. Make it anew "
        "there."
        if FOREIGN.search(situation.text)
        else ""
    )
    return write_document(
        foreign,
        told[0] if conda else "",
        f"For {cluster.title}, once, {where}:" if create else "",
        list_steps(("", create)) if create else None,
        told[1],
        "" if conda else told[0],
        cite(site.software.sources[:MOST_PAGES], site.as_of),
    )


def container(cluster: Cluster, site: Site, situation: Situation) -> Document:
    told = site.software.containers or "; ".join(cluster.containers)
    docker = re.search(r"\bdocker\b", situation.text, re.I) is not None and bool(told)
    opening = "Docker itself no; images from Docker registries yes, by what the machine has:" if docker else ""
    return lay_out(site, site.software.sources, opening, label(f"Containers on {cluster.title}", told))


def internet(cluster: Cluster, site: Site, situation: Situation) -> Document:
    facts = cluster.internet
    proxy = list_steps(*(("in the job script", f"export {name}={value}") for name, value in facts.proxy.items()))
    pages = [facts.source] if facts.source else []
    says = {
        "yes": f"Yes: compute nodes of {cluster.title} reach the internet.",
        "no": f"No: compute nodes of {cluster.title} do not reach the internet: {facts.beforehand}. In the job set "
        "`HF_HUB_OFFLINE=1` and `WANDB_MODE=offline`.",
        "proxy": f"Through a proxy: on {cluster.title} set it in the job.",
        "unknown": f"I do not know whether compute nodes of {cluster.title} reach the internet. Try it on one: "
        "`curl -sI https://huggingface.co | head -1`.",
    }[facts.access]
    before = before_the_job(cluster) if DOWNLOADS.search(situation.text) and facts.access == "yes" else ""
    steps = offline_steps(situation) if facts.access == "no" else None
    return write_document(
        says, proxy if facts.proxy else None, before, steps, facts.note or "", cite(pages, cluster.as_of)
    )


TRACKS = re.compile(r"(?i)\bwandb\b|\bw&b\b|weights.{0,3}biases|\b(?:curves?|courbes?|kurven?|curvas?|dashboard)\b")
FETCHES = re.compile(
    r"(?i)\b(?:model\w*|weights|data ?sets?|data|daten|download\w*|hugging ?face|hf|modell\w*|modèle)\b"
)
# A model of the hub as an option's value: `--model openai/whisper-large-v3`.
OF_THE_HUB = re.compile(
    r"--?[\w-]*(?:model|checkpoint|tokenizer)[\w-]*[= ][\"']?(?P<id>[A-Za-z][\w.-]*/[\w.-]*\w)(?![\w/])"
)


def offline_steps(situation: Situation) -> Steps:
    """How what the job wants from the network is fetched before it, and what it keeps is sent after it."""
    model = OF_THE_HUB.search(situation.request.args or "")
    fetch = (
        (
            "the model, on a login node, with the same HF_HOME as in the job (a folder with room, not the home)",
            f"export HF_HOME=FOLDER; hf download {model['id'] if model else 'MODEL'}",
        ),
        ("a data set of the hub", "export HF_HOME=FOLDER; hf download --repo-type dataset DATA"),
        ("in the job script, above the line that starts the program", "export HF_HOME=FOLDER HF_HUB_OFFLINE=1"),
    )
    track = (
        ("in the job script, above the line that starts the program", "export WANDB_MODE=offline"),
        (
            "on a login node, in the folder where it ran, afterwards, or now and then while it runs",
            "wandb sync wandb/offline-run-*",
        ),
    )
    tracks, fetches = TRACKS.search(situation.text), FETCHES.search(situation.text)
    return list_steps(*(fetch if fetches or not tracks else ()), *(track if tracks or not fetches else ()))


def charging(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The rule; for so many GPUs and hours what each queue takes, cheapest first."""
    told = site.queue_wait.charge if site.queue_wait else ""
    pages = site.queue_wait.sources if site.queue_wait else ()
    ended = (
        "A job is counted from its start to its end: what it leaves of its time limit, as when it is cancelled, is not "
        "charged unless the rule says so; what it ran is."
    )
    asks = ended if ENDS_EARLY.search(situation.text) else ""
    return lay_out(site, pages, asks, prices(cluster, situation.text), label(f"Charged on {cluster.title}", told))


def prices(cluster: Cluster, text: str) -> str:
    """GPUs x hours x each queue's charge factor, where sizes are said and the facts have factors."""
    gpus, hours = GPUS_SAID.search(text), HOURS_SAID.search(text)
    if not gpus or not hours:
        return ""
    amount = int(gpus[1]) * float(hours[1])
    known = [(float(found[1]), queue) for queue in cluster.gpu_queues if (found := FACTOR.search(queue.note or ""))]
    fitting = [
        (factor, queue)
        for factor, queue in known
        if queue.max_walltime is None or walltime_seconds(queue.max_walltime) >= float(hours[1]) * 3600
    ]
    if len(fitting) < 2:
        return f"{gpus[1]} GPUs x {hours[1]} h = {amount:g} GPU hours."
    rows = [
        f"{queue.id} x {factor:g} = {amount * factor:g}" for factor, queue in sorted(fitting, key=lambda one: one[0])
    ]
    return (
        f"{gpus[1]} GPUs x {hours[1]} h = {amount:g} GPU hours; by queue: {'; '.join(rows[:6])}. The cheap ones can "
        f"be preempted "
        "or have other GPUs: *requeue* and checkpoints go with preemption."
    )


def job_limits(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """Queues with their times and nodes, and how many jobs at once."""
    rows = [
        f"`{queue.id}`: {spell(queue.max_walltime) if queue.max_walltime else 'time not known'}, "
        f"{f'{queue.min_nodes} to {queue.max_nodes} nodes' if queue.max_nodes else 'no node limit known'}"
        for queue in cluster.queues
    ]
    at_once = site.queue_wait.limits if site.queue_wait else ""
    pages = [queue.source for queue in cluster.queues if queue.source]
    return lay_out(
        site, pages[:3], label(f"Queues of {cluster.title}", "; ".join(rows)), label("Jobs at once", at_once)
    )


def reservation(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """By the machine's own way where it has one, else through staff; and what everybody then writes."""
    use = {"slurm": "#SBATCH --reservation=NAME", "pbs": "#PBS -q NAME", "lsf": "#BSUB -U NAME"}.get(
        cluster.scheduler, ""
    )
    own = sentences_about(site, r"\bqrsub\b|\breservations?\b(?! (?:not|is|are) (?:counted|charged))(?! whole)")
    opening = "" if own else f"Through staff: on {cluster.title} they make reservations; ask weeks ahead."
    pages = [*site.support.sources, *(site.queue_wait.sources if site.queue_wait else ())]
    return lay_out(
        site,
        pages,
        label(f"On {cluster.title}", " ".join(own)),
        opening,
        "Say date, hours, nodes and who takes part.",
        label("Ask", site.support.text),
        label("Then everybody writes", f"`{use}`") if use else "",
    )


def sentences_about(site: Site, pattern: str) -> list[str]:
    """What the file says of a matter anywhere about accounts, the queue and changes."""
    waiting = site.queue_wait
    texts = [
        *((waiting.priority, waiting.limits, waiting.charge, *waiting.more) if waiting else ()),
        *site.account.more,
        *(change.text for change in site.changes),
    ]
    return [one for text in texts for one in sentences(text) if re.search(pattern, one, re.I)][:3]


def support(cluster: Cluster, site: Site, situation: Situation) -> Document:
    pages = (*site.support.sources, *(site.status.sources if site.status else ()))
    status = label("Is it down?", site.status.text if site.status else "")
    write = (
        "Write them: the machine and your user name, the job's number, its nodes and time, the script's path, and the "
        "exact lines of the error."
    )
    return lay_out(site, pages, label(f"Support of {cluster.title}", site.support.text), status, write)


def status(cluster: Cluster, site: Site, situation: Situation) -> Document:
    told = site.status.text if site.status else site.support.text
    changes = [label("Changed lately", change.text) for change in site.changes[:2]]
    return lay_out(site, site.status.sources if site.status else (), label(f"State of {cluster.title}", told), *changes)


def start(cluster: Cluster, site: Site, situation: Situation) -> Document:
    """The path of somebody who has never been there."""
    create = cluster.software["default"].create or site.software.own_env
    submit = {"slurm": "sbatch job.sh", "pbs": "qsub job.sh", "lsf": "bsub < job.sh", "flux": "flux batch job.sh"}
    return write_document(
        f"On {cluster.title} you hand a small file (the job script) to the scheduler, which runs it on free GPUs:",
        list_steps(
            (f"log in: {site.login.how}", ""),
            (f"find your project's account: {site.account.find_mine}", ""),
            (f"copy your files: {site.transfer.small}", ""),
            (f"make the environment once: {create}", ""),
            (f"try it on one GPU for some minutes: {site.interactive.gpu}", ""),
            (
                "tell me the program, the account and how long it runs, and I write the script; hand it in",
                submit[cluster.scheduler],
            ),
            (f"watch it: {site.watch.queue}; its output: {site.watch.output}", ""),
        ),
        AS_PROGRAM if NOTEBOOK.search(situation.text) else "",
        cite([site.pages.get("start", ""), *site.login.sources], site.as_of),
    )


def is_command(text: str) -> bool:
    """Whether a fact is a command and nothing else."""
    return bool(re.match(r"(?:salloc|srun|qsub|bsub|flux|qrsh|sinteractive|idev|getnode)\b[^.;]*$", text))


TELLERS: dict[str, Teller] = {
    "site.start": start,
    "site.account": account,
    "site.balance": balance,
    "site.quota": quota,
    "site.purge": purge,
    "site.backup": backup,
    "site.login": login,
    "site.transfer": transfer,
    "site.storage": storage,
    "site.localdisk": local_disk,
    "site.interactive": interactive,
    "site.jupyter": jupyter,
    "site.modules": modules,
    "site.environment": environment,
    "site.container": container,
    "site.internet": internet,
    "site.limits": job_limits,
    "site.charging": charging,
    "site.reservation": reservation,
    "site.support": support,
    "site.status": status,
}

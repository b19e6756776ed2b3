"""Orders that the person's own script itself explains, in whatever language they are said.

What stands in the script tells what a word of the order is: another tag of its image, another version of a module that
it loads, a sibling of its environment's folder, an option of its program. The words between are of no weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from graph.debugging.remedies import request_of
from graph.extraction.script import read_script
from graph.extraction.script_record import record_of
from graph.reading.argument_edits import known_arguments
from graph.usecases.edit_script import (
    JOINS,
    MODULE,
    Edited,
    bare_options,
    base,
    settings,
    swap_module,
    take_out,
    with_directive,
)
from graph.usecases.own_arrays import put_array
from graph.usecases.own_fields import ACTIVATES, IMAGE, SOURCES_VENV, put_binds, put_container, put_environment
from graph.usecases.own_lines import scheduler_of
from graph.usecases.script_lines import REMOVES
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import ArrayAxis, JobArray
from knowledge.types import JobRequest
from templates.parts import RESUMES, SUBMITTED

CLAUSE = re.compile(
    r"[,;\u3001\u3002\uff0c\uff1b\n]|[.!?](?=\s|$)|\s(?:and|und|et|y|e|then|dann|puis|luego|poi|i|oraz|potem|\u0438|\u043f\u043e\u0442\u043e\u043c)\s",
    re.I,
)
PATH = r"(?<![\w./$:~-])(?:~|\$\{?\w+\}?)?/[\w./${}%+-]*[\w}]"
IMAGE_NAME = re.compile(
    r"(?<![\w./$-])(?![$~/][^\s:]*:/)(?:\w+://)?[\w./${}-]*\w(?::[\w][\w.+-]*\w|\.(?:sif|sqsh|simg|img))(?![\w/])"
)
SAYS_IMAGE = re.compile(
    r"(?i)\b(?:image|container|abbild|im[áa]gen|imagem|immagine|conteneur|contenedor|obraz\w*|kontener\w*)\b|образ|контейнер"
    r"|镜像|容器|イメージ|コンテナ"
)
SAYS_ENVIRONMENT = re.compile(
    r"(?i)\b(?:v?env|venv|conda|environment|umgebung|environnement|entorno|ambiente|środowisk\w*)\b|окружени|环境|環境"
)
BINDS = re.compile(
    r"(?i)\b(?:re)?bind\w*|\bmount\w*|\beinbind\w*|\beingebunden|\beinh[äa]ng\w*|\bmont\w*|\bz?amont\w*|\bpodmont\w*|\bpodepnij"
    r"|монтир|挂载|绑定|マウント|バインド"
)
READ_ONLY = re.compile(
    r"(?i)read[- ]?only|\b(?:nur|zum)[- ]lesen\w*|schreibgesch\w+|lecture seule|solo lectura|sola lettura"
    r"|(?:somente|apenas|s[óo]) (?:de )?leitura|tylko do odczytu|только (?:для )?чтени\w+|只读|読み取り専用"
)
TWO_PLACES = re.compile(
    rf"(?P<host>{PATH})(?P<between>[^,;\n\u3001\u3002\uff0c]{{1,25}}?)(?P<place>(?<![\w$}}/.~-])/[\w./-]*\w)"
)
JOINS_TWO = re.compile(r"(?i)\b(?:and|und|et|y|e|i|oraz|plus)\b|\sи\s|と|和")
ALL_OF_THEM = re.compile(
    r"(?i)\barrays?\b|\bsweep|\bgrid\b|\bcombin|\bkombin|\balle\b|\ball (?:the )?pairs?\b|\beach\b|\bjede\w?\b|\btableau\b"
    r"|\bchaque\b|\btoutes?\b|\btodas?\b|\bcada\b|\barreglo\b|\bmatriz\b|\btutt[ei]\b|\bogni\b|\btablic\w+|\bwszystk\w+"
    r"|\bka[zż]d\w+|массив|комбинац|кажд|数组|组合|アレイ|組み合わせ|すべて|全て"
)
AT_ONCE = re.compile(
    r"(?i)(?P<most>\d{1,4})\W{0,3}(?:\w+\W{1,2}){0,2}?(?:at (?:once|a time|the same time)|in parallel|simultan\w+|concurrent\w*"
    r"|gleichzeitig|parallel|en m[êe]me temps|en parall[èe]le|a la vez|al mismo tiempo|en paralelo|alla volta"
    r"|in parallelo|contemporanea\w*|ao mesmo tempo|em paralelo|naraz|jednocze\w+|r[óo]wnocze\w+|одновременно|параллельно)"
    r"|(?:同时|最多)\D{0,6}(?P<first>\d{1,4})|同時に\D{0,6}(?P<second>\d{1,4})"
)
MEMBER = r"[\w./+-]*\w"
LISTED = rf"{MEMBER}(?:\s*[,\u3001]\s*{MEMBER})*\s*(?:[,\u3001]?\s*(?:and|und|et|y|e|i|oraz|\u0438|\u548c|\u3068)\s+|[,\u3001]\s*){MEMBER}"
# `the same file` of output and errors.
SAME_FILE = re.compile(
    r"(?i)\b(?:same|one|single) file|\b(?:selbe|gleiche|eine) datei|\bm[êe]me fichier|\bmismo (?:archivo|fichero)|\bstesso file"
    r"|\bmesmo (?:arquivo|ficheiro)|\b(?:ten|tego) sam\w* plik\w*|\bjedn\w+ plik\w*|(?:тот же|одном?|один) файл|同一个?文件|同じファイル"
)
FOLDER = re.compile(r"(?<![\w./$-])(?P<name>[\w.-]+(?:/[\w.-]+)*)/(?![\w/$])")
AT_SHARE = re.compile(
    r"(?<!\d)(?P<share>50|80|90)\s?(?:%|percent\b|prozent\b|por ?cent\w*|pour ?cent|procent|процент)", re.I
)
FIRST_OF_ALL = re.compile(
    r"(?i)\bbefore (?:everything|anything|all)\b|\b(?:very|right) (?:first|beginning|start|top)\b|\bfirst (?:of all|thing)\b"
    r"|\bganz am anfang\b|\bals (?:aller)?erstes\b|\bvor allem anderen\b|\bavant tout\b|\btout au d[ée]but\b|\bantes (?:que|de) (?:todo|tudo|nada)\b"
    r"|\bal principio\b|\blo primero\b|\bprima di tutto\b|\blogo no in[íi]cio\b|\bna samym pocz\w+|\bprzed wszystkim\b|в самом начале|прежде всего"
    r"|最前面|最开始|一番(?:最初|先)|まず最初"
)
# Jobs one after the other, and what each waits for.
IN_A_ROW = re.compile(
    r"(?i)\bin a row\b|\bone after (?:the other|another)\b|\bback to back\b|\bchain\w*\b|\b(?:next|each)\b[^.;]{0,25}\bafter\b"
    r"|\bhintereinander\b|\bnacheinander\b|\bkette\b|\b[àa] la suite\b|\bl'une? apr[èe]s l'autre\b|\bencha[îi]n\w+|\bseguid[oa]s\b"
    r"|\bun[oa] tras otr[oa]\b|\bencaden\w+|\bin fila\b|\bun[oa]? dopo l'altr[oa]\b|\bem sequ[êe]ncia\b|\bum(?:a)? (?:ap[óo]s|atr[áa]s) (?:o|do|a|da) outr[oa]\b"
    r"|\bpo kolei\b|\bjed\w+ po drugi\w+|друг за другом|подряд|цепочк|依次|一个接一个|串联|連続|順番"
)
TIMES = re.compile(
    r"(?i)(?<![\w.:-])(?P<count>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|f[üu]nf|sechs|deux|trois"
    r"|quatre|cinq|dos|tres|cuatro|cinco|due|tre|quattro|duas|dois|tr[êe]s|quatro|trzy|cztery)"
    r"\s*(?:-?\s*(?:times|x|mal|fois|veces|volte|vezes|razy|раза?|of (?:them|those|these)|(?:such )?jobs?|runs|pieces|links"
    r"|davon|de (?:estos|eux|ces)|d'affil[ée]e|trabajos|travaux|zada\w+|заданий|задани[яе])\b|[次回个個遍])"
)
NUMBER_WORDS = {
    **dict.fromkeys(("two", "zwei", "deux", "dos", "due", "duas", "dois"), 2),
    **dict.fromkeys(("three", "drei", "trois", "tres", "tre", "três", "trzy"), 3),
    **dict.fromkeys(("four", "vier", "quatre", "cuatro", "quattro", "quatro", "cztery"), 4),
    **dict.fromkeys(("five", "fünf", "funf", "cinq", "cinco"), 5),
    **{"six": 6, "sechs": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
}
ONLY_WELL = re.compile(
    r"(?i)\b(?:without|no) (?:an? )?errors?\b|\bsuccess\w*|\bsucceed\w*|\bended? (?:well|ok|fine|clean\w*)\b|\bohne fehler\b|\berfolg\w*"
    r"|\bfehlerfrei\b|\bsans erreurs?\b|\br[ée]ussi\w*|\bsin (?:error|fallo)\w*|\b[ée]xito\b|\bbien\b|\bsenza errori\b|\bsem erros?\b|\bsucesso\b"
    r"|\bbez b[łl][ęe]d\w+|\bpomy[śs]ln\w+|без ошиб|успешн|成功|正常"
)
SENT = (
    "`{name}` (put your file's name here) stays as it is; it is sent {count} times, each starting after the one before "
    "{when}:\n\n"
    "```bash\n{lines}\n```"
)
ENDED = {
    "afterok": "ended without an error",
    "afterany": "ended, however it ended",
}
WELL_ONLY = (
    "One that fails, or is cut off at its time limit, ended with an error: the ones behind it then never start (say "
    "*whatever happened* for a chain that goes on all the same)."
)


def by_script(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """The script with what its own text explains of the words; `placed` has the words that were used."""
    for change in (change_image, change_versions, change_folder, change_binds, take_named_out, join_outputs):
        try:
            now = change(now, words)
        except InputError as error:
            now = replace(now, told=(*now.told, f"Not done: {error}."))
    return change_grid(now, words, cluster)


def clauses(words: str) -> list[tuple[int, int]]:
    """Start and end of each clause."""
    cuts = [(0, 0), *(one.span() for one in CLAUSE.finditer(words)), (len(words), len(words))]
    return [(a[1], b[0]) for a, b in pairwise(cuts)]


def change_image(now: Edited, words: str) -> Edited:
    """Another tag of the image that the script has, or one that is called an image."""
    held = {one["name"] for one in IMAGE.finditer(now.text)}
    for found in IMAGE_NAME.finditer(words):
        start = next(a for a, b in clauses(words) if a <= found.start() <= b)
        of_it = any(of_image(one) == of_image(found[0]) for one in held)
        if held and found[0] not in held and (of_it or SAYS_IMAGE.search(words, start, found.start())):
            now = put_container(now, JobRequest(container=found[0]))
            now = replace(now, placed=(*now.placed, words[start : found.end()].strip()))
    return now


def of_image(name: str) -> str:
    """An image's name without its registry's scheme and its tag."""
    return name.rpartition("://")[2].partition(":")[0]


def change_versions(now: Edited, words: str) -> Edited:
    """`cuda has to be 12.2`: another version of a module that is loaded, by its name and the number alone."""
    loaded = [name for line in MODULE.finditer(now.text) for name in line["names"].split() if "/" in name]
    for name in loaded:
        head, _, version = name.rpartition("/")
        said = re.compile(
            rf"(?<![\w/$.-]){re.escape(base(name))}(?![\w/-])(?:[^,;\n\d]{{0,30}}?(?<![\w.]){re.escape(version)})?"
            r"[^,;\n\d]{0,30}?(?<![\w./-])v?(?P<new>\d+(?:\.\d+)*[\w.-]*\w|\d+)(?![\w%/])",
            re.I,
        )
        found = said.search(words)
        if found and re.match(r"\d", version) and found["new"] != version and "." in found["new"] + version:
            lines = list(MODULE.finditer(now.text))
            now = swap_module(now, lines, f"{head}/{found['new']}", name)
            now = replace(now, placed=(*now.placed, found[0]))
    return now


def change_folder(now: Edited, words: str) -> Edited:
    """Another environment, by a path that lies beside the present one or is called one; of several the last."""
    own = next((found for one in (ACTIVATES, SOURCES_VENV) if (found := one.search(now.text))), None)
    paths = [one for one in re.finditer(PATH, words) if "." not in one[0].rpartition("/")[2]]
    if own is None or "/" not in own["name"] or not paths:
        return now
    beside = [one for one in paths if one[0].rpartition("/")[0] == own["name"].rpartition("/")[0]]
    called = SAYS_ENVIRONMENT.search(words, next(a for a, b in clauses(words) if a <= paths[-1].start() <= b))
    meant = beside or ([paths[-1]] if called and not BINDS.search(words) else [])
    if not meant or meant[-1][0] == own["name"]:
        return now
    new = meant[-1][0].removesuffix("/bin/activate")
    now = put_environment(now, JobRequest(environment=new))
    return replace(now, placed=(*now.placed, *(one[0] for one in paths)))


def change_binds(now: Edited, words: str) -> Edited:
    """Folders for the container of the launch: `A as /b`, each read-only where the words say so of it."""
    if not BINDS.search(words):
        return now
    found = [one for one in TWO_PLACES.finditer(words) if not JOINS_TWO.search(one["between"])]
    parts = [(a, b) for a, b in clauses(words) if READ_ONLY.search(words, a, b)]
    only = {one[0] for a, b in parts for one in re.finditer(PATH, words[a:b])}
    for one in found:
        inside = any(a <= one.start() < b for a, b in parts)
        ends = ":ro" if one["place"] in only or inside or (parts and not only) else ""
        now = put_binds(now, JobRequest(binds=(f"{one['host']}:{one['place']}{ends}",)))
        now = replace(now, placed=(*now.placed, one[0], *(words[a:b].strip() for a, b in parts)))
    return now


def take_named_out(now: Edited, words: str) -> Edited:
    """What a clause names that says of nothing else that it is to go: options of the launch, modules."""
    for start, end in clauses(words):
        clause = words[start:end]
        if not REMOVES.search(clause) or re.search(r"(?<![\w-])\d", clause):
            continue
        before = now
        said = re.sub(r"[-_\s]+", " ", clause.lower())
        for name in bare_options(now.text):
            if re.search(rf"(?<!\w){re.escape(re.sub(r'[-_]+', ' ', name.lower()).strip())}(?!\w)", said):
                now = take_out(now, name)
        for name in [one for line in MODULE.finditer(now.text) for one in line["names"].split()]:
            if re.search(rf"(?<![\w/]){re.escape(name.partition('/')[0])}(?![\w-])", clause, re.I):
                now = swap_module(now, list(MODULE.finditer(now.text)), "", name)
        now = replace(now, placed=(*now.placed, clause.strip())) if now is not before else now
    return now


def join_outputs(now: Edited, words: str) -> Edited:
    """Output and errors in one file, in the folder that is named: no directive of its own is left for the errors."""
    same = SAME_FILE.search(words) or JOINS.search(words)
    script = read_script(now.text)
    held, scheduler = script.active.get("error"), scheduler_of(now.text, "") if script.directives else ""
    if not same or scheduler != "slurm" or held is None:
        return now
    rows = now.text.splitlines(keepends=True)
    told = f"taken out: `{rows.pop(held.line - 1).strip()}`"
    now = replace(now, text="".join(rows), says=(*now.says, f"{told}, so errors go to the output's file"))
    start, end = next((a, b) for a, b in clauses(words) if a <= same.start() < b)
    now = replace(now, placed=(*now.placed, words[start:end].strip(), same[0]))
    folder = FOLDER.search(words)
    if folder is None:
        return now
    from graph.planning.directives import PREFIX, Word
    from graph.usecases.edit_script import MAKES_FOLDER

    name = f"{folder['name']}/%x-%j.out"
    text = with_directive(now.text, Word("--output=", name), PREFIX["slurm"])
    return replace(now, text=text, says=(*now.says, f"--output={name} set{MAKES_FOLDER.format(folder['name'])}"))


def change_grid(now: Edited, words: str, cluster: Cluster | None) -> Edited:
    """`lang = fr, de and es and seed = 0, 1, 2`: a task for each pair, where the words say that it is for all of them."""
    request = request_of(record_of(read_script(now.text)))
    known = known_arguments(request) or bare_options(now.text)
    axes, spans = list[ArrayAxis](), list[str]()
    for option in dict.fromkeys([*known, *(one.name for one in settings(now.text) if one.name.startswith("-"))]):
        called = re.sub(r"[-_]+", "[-_ ]?", re.escape(option.lstrip("-").rstrip("=")).replace("\\-", "-"))
        joint = r"(?:\s*(?:=|:|\uff1a)\s*|\s+(?:in|over|of|from|auf|aus|parmi|entre|en|tra|em|из|по)\s+|\s+|\s*[\u4ece\u4e3a]\s*)"
        found = re.search(
            rf"(?<![\w-])-{{0,2}}{called}s?{joint}[\[({{]?(?P<values>{LISTED}|\d+\s*(?:-|\.\.+)\s*\d+)", words, re.I
        )
        values = values_of(found["values"], words) if found else ()
        if found and len(values) > 1 and alike(values):
            axes.append(ArrayAxis(option.rstrip("="), values))
            spans.append(found[0])
    if not axes or not ALL_OF_THEM.search(words):
        return now
    most = AT_ONCE.search(words)
    at_once = int(next(filter(None, most.groups()))) if most else None
    try:
        made = put_array(now, JobArray(tuple(axes), None, at_once), cluster, "the script")
    except InputError as error:
        return replace(now, told=(*now.told, f"Not done: {error}."), placed=(*now.placed, *spans))
    return replace(with_own_logs(made), placed=(*now.placed, words))


def values_of(listed: str, words: str) -> tuple[str, ...]:
    """The members of a list, without the name of the next axis that its last comma or `and` leads to."""
    bounds = re.fullmatch(r"(\d+)\s*(?:-|\.\.+)\s*(\d+)", listed.strip())
    if bounds:
        return tuple(map(str, range(int(bounds[1]), int(bounds[2]) + 1)))
    parts = re.split(
        r"\s*[,\u3001]\s*(?:(?:and|und|et|y|e|i|oraz|\u0438)\s+)?|\s+(?:and|und|et|y|e|i|oraz|\u0438|\u548c|\u3068)\s+",
        listed,
    )
    after = words[words.find(listed) + len(listed) :]
    return tuple(parts[:-1] if re.match(r"\s*(?:=|:|\uff1a)|\s+(?:in|over)\s", after) else parts)


def alike(values: tuple[str, ...]) -> bool:
    """Whether values are of one kind: numbers, or words."""
    return len({re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", one) is not None for one in values}) == 1


def with_own_logs(now: Edited) -> Edited:
    """An array's logs with the task in their names, where they had the job's number alone."""
    text = re.sub(r"(?m)^(#SBATCH\s+(?:--output|--error|-o|-e)[= ]?\S*?)%j", r"\1%A_%a", now.text)
    return replace(now, text=text, says=(*now.says, "a log for each task (%A_%a)")) if text != now.text else now


def sources_first(now: Edited, before: str, words: str) -> Edited:
    """A `source` line that was put in, right behind the directives where it is to come before everything."""
    rows, old = now.text.split("\n"), before.split("\n")
    new = [row for row in rows if row.startswith("source ") and row not in old]
    if not new or not FIRST_OF_ALL.search(words):
        return now
    kept = [row for row in rows if row not in new]
    at = max((one.line for one in read_script("\n".join(kept)).directives if one.active), default=1)
    told = tuple(one for one in now.says if not any(row in one for row in new))
    says = (*told, *(f"`{row}` before everything else" for row in new))
    return replace(now, text="\n".join([*kept[:at], *new, *kept[at:]]), says=says)


def mailed_at(now: Edited, words: str) -> Edited:
    """Mail at the share of the time limit that is said, which Slurm has for 50, 80 and 90 %."""
    found = AT_SHARE.search(words)
    line = re.search(r"(?m)^#SBATCH --mail-type=(?P<events>\S+)", now.text)
    if found is None or line is None:
        return now
    event = f"TIME_LIMIT_{found['share']}"
    events = [one for one in line["events"].split(",") if not one.startswith("TIME_LIMIT")]
    told = ",".join([*events, event])
    text = f"{now.text[: line.start('events')]}{told}{now.text[line.end('events') :]}"
    says = tuple(one for one in now.says if not one.startswith("--mail-type"))
    return replace(now, text=text, says=(*says, f"--mail-type={told} set"), placed=(*now.placed, found[0]))


def sent_in_a_row(text: str, words: str, name: str) -> str:
    """How a script is sent several times, each after the one before; empty where the words want no such thing.

    Raises InputError where the file asks no scheduler for anything.
    """
    counted = TIMES.search(words)
    if not counted or not IN_A_ROW.search(words):
        return ""
    said = counted["count"].lower()
    count = NUMBER_WORDS.get(said) or (int(said) if said.isdecimal() else 0)
    if count < 2:
        return ""
    scheduler, kind = scheduler_of(text, name), "afterok" if ONLY_WELL.search(words) else "afterany"
    command, option = SUBMITTED[scheduler]
    of_lsf = {"afterok": "done", "afterany": "ended"}
    cut = {"slurm": "; JOB=${JOB%%;*}", "lsf": "; JOB=${JOB#*<}; JOB=${JOB%%>*}"}.get(scheduler, "")
    waits = option.format(kind=of_lsf[kind] if scheduler == "lsf" else kind).replace("$before", "$JOB")
    waits = f'-w "{waits.removeprefix("-w ")}"' if scheduler == "lsf" else waits
    file = f"< {name}" if scheduler == "lsf" else name
    rest = " ".join(map(str, range(2, count + 1)))
    lines = f'JOB=$({command} {file}){cut}\nfor n in {rest}; do JOB=$({command} {waits} {file}){cut}; echo "job $n: $JOB"; done'
    told = SENT.format(name=name, count=count, when=ENDED[kind], lines=lines)
    return "\n\n".join([told, *([WELL_ONLY] if kind == "afterok" else []), *goes_on_by(text)])


def goes_on_by(text: str) -> Iterator[str]:
    """The option by which the program goes on with a run, where it has one."""
    command = read_script(text).training
    argv = command.argv if command else ()
    for name, value in zip(argv, [*argv[1:], ""], strict=True):
        if name.startswith("--") and set(re.split(r"[-_=]", name.lower().lstrip("-"))) & RESUMES:
            shown = f"{name} {value}".strip() if not value.startswith("-") else name
            yield f"Each goes on with the run by `{shown}`."
            return

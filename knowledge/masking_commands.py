"""Passwords that a command takes: as an option, from a pipe, in a here-string, in a file of logins."""

from __future__ import annotations

from knowledge.masking_rule import MaskingRule
from knowledge.masking_words import is_secret, is_told

# Command, the option that takes the password ({} stands for it), and what such a line holds at least.
COMMANDS = (
    (r"mysql\w*|mariadb\w*", r"-p{}", r"-p", "mysql -uroot -p«tiger77» runs"),
    (r"\S+ -u\s?[\w.-]{1,40}", r"-p{3}", r"-p\S", "client -uroot -p«tiger77»"),
    (r"redis-cli", r"(?:-a|--pass)\s{}", r"-(?:a|-pass)\s", "redis-cli -h c1 -a «tiger77» ping"),
    (r"sshpass", r"-p\s?{}", r"-p", "sshpass -p «tiger77» ssh a"),
    (r"mongo\w*|mosquitto_\w+|ncftp\w*", r"-(?:p|P|pw)\s?{}", r"-p", "mongosh h/x -u a -p «tiger77»"),
    (r"sqlcmd|bcp|isql|tsql|unzip|zip|cadaver", r"-P\s?{}", r"-p", "unzip -P «tiger77» a.zip"),
    (r"7za?r?|rar|unrar|7zz", r"-h?p{}", r"-h?p", "7z x -p«tiger77» a.7z"),
    (r"ldap\w+", r"-w\s?{}", r"-w", "ldapsearch -D cn=a -w «tiger77» -b x"),
    (
        r"docker|podman|nerdctl|singularity|apptainer|skopeo|buildah|helm|oc|az|cf|ibmcloud|oras|crane|twine|conan",
        r"login\s(?:[^\n]{0,160}?\s)?(?:-p|--password)[\s=]{}",
        r"login\s.*(?:-p|-password)[\s=]",
        "docker login -u a -p «tiger77» r",
    ),
    (
        r"smbclient|mount\.cifs|rpcclient|net",
        r"(?:-U|--user)[\s=][\w.\\-]{1,40}%{}",
        r"-(?:u|-user)[\s=].*%",
        "smbclient //n/x -U ada%«tiger77»",
    ),
    (
        r"curl|wget|http|xh|lftp|aria2c|git",
        r"(?:-u|--user|--proxy-user|-U|-a|--auth)[\s=][\"']?[\w.@-]{1,60}[:,]{}",
        r"-(?:u|-user|-proxy-user|a|-auth)[\s=].*[:,]",
        "curl -u ada:«tiger77» https://x",
    ),
    (
        r"openssl|keytool|pkcs12",
        r"(?:-pass(?:in|out)?\s(?:pass:)?|-(?:store|key)pass\s|-k\s|-K\s){}",
        r"-(?:pass|storepass|keypass|k\s)",
        "openssl enc -pass pass:«tiger77» -in a",
    ),
    (r"ipmi\w+|racadm|redfishtool", r"-[pP]\s{}", r"-p", "ipmitool -H bmc1 -U admin -P «tiger77» power on"),
    (r"snmp\w+", r"-[AX]\s{}", r"-[ax]\s", "snmpwalk -v3 -u ada -A «tiger77» gpu17"),
    (r"ConvertTo-SecureString", r"(?:-String\s)?{}", r"\s", "ConvertTo-SecureString «tiger77» -AsPlainText"),
    (r"ssh-keygen", r"-[NP]\s{}", r"-[np]", "ssh-keygen -t ed25519 -N «tiger77»"),
    (r"net use", r"\\\\\S{1,80}\s{}", r"\\\\", r"net use Z: \\nas\data «tiger77» /user:ada"),
    (r"htpasswd", r"-\w*b\w*\s\S+\s\S+\s{}", r"-\w*b", "htpasswd -b f ada «tiger77»"),
    (
        r"vncpasswd|chpasswd|kinit|passwd",
        r"(?:<<<\s?|-f\s)?[\"']?(?:[\w.-]{1,32}:)?{3}$",
        r"\S",
        "kinit ada <<< «Tiger-77»",
    ),
    (r"sqlplus|expdp|impdp|rman|exp|imp", r"[\w.-]{1,40}/{3}(?=@)", r"/\S+@", "sqlplus scott/«tiger77»@ORCL"),
    (r"xfreerdp|rdesktop", r"(?:/p:|-p\s?){}", r"(?:/p:|-p)", "xfreerdp /u:ada /p:«tiger77»"),
    (
        r"wandb login|huggingface-cli login|hf auth login|ngc config set(?: apikey)?|comet login|neptune|kaggle"
        r"|oathtool",
        r"(?:[\w.=-]{1,40}\s)*{16}$",
        r"[\w+/=-]{16}",
        "wandb login --relogin «0a1b2c3d4e0a1b2c3d4e»",
    ),
    (
        r"\w+ config set|\w+ configure set|\w+ secret set|\w+ set-secret",
        r"(?:[\w.]*(?:key|token|secret|password)\w*)(?:\s-v|\s--value)?\s{}",
        r"(?:key|token|secret|password)",
        "kaggle config set -n key -v «0123456789abcdef»",
    ),
    (r"send(?:line)?", r"(?:--\s)?[\"']{3}(?=\\[rn])", r"\\[rn]", r'send "«tiger77»\r"'),
)
VALUE_OF_OPTION = r"[\"']?(?P<v>[^\s\"'-][^\s\"']{2,}|[^\s\"'-]{3})"


def option(command: str, form: str) -> str:
    """The pattern of a command's option. {} any value, {3} one that looks like a password, {16} a long one."""
    values = {
        "{}": VALUE_OF_OPTION,
        "{3}": r"(?P<v>(?=[^\s\"'@]*[\d\W])(?!\d+:)[^\s\"'\\@-][^\s\"'\\@]{2,})",
        "{16}": r"(?P<v>[\w+/=-]{16,})",
    }
    marks = [mark for mark in values if mark in form]
    return rf"(?:(?<=[\s;|&(/`])|^)(?:{command})\s(?:[^\n]{{0,160}}?\s)??{form.replace(marks[0], values[marks[0]])}"


IN_COMMANDS = (
    *(
        MaskingRule("KEY", rf"(?:^|[\s;|&(/`])(?:{command})\s.*?{marks}", option(command, form), is_secret, example)
        for command, form, marks, example in COMMANDS
    ),
    MaskingRule(
        "KEY",
        r"\b(?:echo|printf)\b.*\|",
        r"\b(?:echo|printf)\s(?:-\w+\s)?[\"']?(?:[\w.-]{1,32}:)?(?P<v>[^\s\"'|$]{3,})[\"']?(?:\\n)?"
        r"[\"']?\s?\|\s?[^\n|]{0,120}?(?:\bsudo\s[^|\n]{0,20}-\w*S|\bpasswd\b|chpasswd|-stdin\b|\blogin\b"
        r"|with-token|\bkinit\b|\bgpg\b|cryptsetup|\bsu\b)",
        is_secret,
        example="echo «tiger77» | sudo -S apt install foo",
    ),
    MaskingRule(
        "KEY",
        r"(?:passwd|kinit|cryptsetup|gpg|sudo|login|\bsu|-stdin|token)\b.*<<<",
        r"\b(?:\w*passwd|kinit|cryptsetup|gpg|sudo|login|su|[\w-]+-stdin|with-token|token)\b[^\n|]{0,160}?<<<\s?[\"']?"
        r"(?:[\w.-]{1,32}:)?(?P<v>[^\s\"'|$]{3,})",
        is_secret,
        example="cryptsetup open /dev/sdb1 data <<< «tiger77»",
    ),
    MaskingRule(
        "KEY",
        r"pass\w*-(?:command|cmd|program)[\s=].*(?:echo|printf)\s",
        r"pass\w*-(?:command|cmd|program)[\s=][\"']?(?:echo|printf)\s[\"']?(?P<v>[^\s\"'|$]{3,})",
        is_secret,
        example="restic --password-command 'echo «tiger77»' backup",
    ),
    MaskingRule(
        "KEY",
        r"<\((?:echo|printf)\s",
        r"<\((?:echo|printf)\s(?:-\w+\s)?[\"']?(?P<v>[^\s\"'|$)]{3,})",
        is_secret,
        example="--key-file <(echo -n «tiger77»)",
    ),
    MaskingRule(
        "KEY",
        r"\bu(?:ser)?\s?[:=].*\bp",
        r"(?i)\bu(?:ser(?:name)?)?\s?[:=]\s?\S{1,40}[\s,;/]{1,3}p(?:w|ass|wd)?\s?[:=]\s?(?P<v>[^\s\"',;]{4,})",
        is_told,
        example="u: ada p: «tiger77»",
    ),
    MaskingRule(
        "KEY",
        r"(?:auth|basicauth|proxy.?user)",
        r"(?i)(?:(?:basic|\b)auth\s?=?\s?\(\s?[\"'][^\"'\n]{1,60}[\"']\s?,\s?|(?:--auth|proxy[_-]?user)[\s=]"
        r"[\"']?[\w.-]{1,40}:)[rbu]?[\"']?(?P<v>[^\s\"',()]{3,})",
        is_secret,
        example='get(u, auth=("ada", "«tiger77»"))',
    ),
    MaskingRule(
        "KEY",
        r"login.*password",
        r"(?i)\b(?:machine\s+\S{1,80}|default)\s+login\s+\S{1,60}\s+(?:account\s\S+\s)?password\s+(?P<v>\S{3,})",
        example="machine a.org login x password «tiger»",
    ),
    MaskingRule(
        "KEY",
        r"(?:machine|default).*password",
        r"(?i)^\s*(?:machine\s+\S{1,80}|default)\s[^\n]{0,80}password\s+(?P<v>\S{3,})",
        example="default login anonymous password «tiger»",
    ),
)

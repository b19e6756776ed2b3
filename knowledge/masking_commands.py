"""Passwords that a command takes: as an option, from a pipe, in a here-string, in a file of logins."""

from __future__ import annotations

from knowledge.masking_rule import MaskingRule
from knowledge.masking_words import is_secret, is_typed

# Command, the option that takes the password ({} stands for it), and what such a line holds at least.
COMMANDS = (
    (r"mysql\w*|mariadb\w*", r"-p{}", r"-p", "mysql -uroot -p«tiger77» runs"),
    (r"\w*(?:store_cred|log[io]n|logon)\w*", r"-(?:p|-?pass\w*)\s{3}", r"-p", "condor_store_cred add -p «tiger77»"),
    (r"sshpass", r"-p\s?{}", r"-p", "sshpass -p «tiger77» ssh a"),
    (r"sqlcmd|bcp|isql|tsql|unzip|zip|cadaver", r"-P\s?{}", r"-p", "unzip -P «tiger77» a.zip"),
    (r"7za?r?|rar|unrar|7zz", r"-h?p{}", r"-h?p", "7z x -p«tiger77» a.7z"),
    (
        r"curl|wget|http|xh|lftp|aria2c|git",
        r"(?:-u|--user|--proxy-user|-U|-a|--auth)[\s=](?:(?P<p>[\"'])[\w.@-]{1,60}[:,](?P<w>[^\"'\n]{3,80})(?P=p)"
        r"|[\"']?[\w.@-]{1,60}[:,][\"']?{bare})",
        r"-(?:u|-user|-proxy-user|a|-auth)[\s=].*[:,]",
        "curl -u ada:«tiger77» https://x",
    ),
    (
        r"openssl|keytool|pkcs12",
        r"(?:-pass(?:in|out)?\s(?:pass:)?(?!env:|file:|fd:)|-(?:store|key)pass\s|-k\s|-K\s){}",
        r"-(?:pass|storepass|keypass|k\s)",
        "openssl enc -pass pass:«tiger77» -in a",
    ),
    (
        r"dvc|gh|npm|pip|poetry|spack|conda|git|rclone",
        r"(?:config|set|modify)\s(?:[^\n]{0,120}?[\s.])?(?:password|pass|token|secret\w*|api[-_]?key)\s{}",
        r"(?:config|set|modify)\s.*(?:pass|token|secret|key)\w*\s",
        "dvc remote modify lab --local password «capers»",
    ),
    (
        r"kubectl|oc|docker|podman|helm",
        r"(?:--from-literal[=\s]|--set(?:-string)?[=\s]|-e\s|--env[=\s])[\w.-]{0,60}(?i:pass\w*|pwd|token|secret\w*)={}",
        r"(?:pass\w*|pwd|token|secret\w*)=",
        "kubectl create secret generic x --from-literal=admin-password=«fog.in.autumn»",
    ),
    (r"redis-cli|iredis", r"(?:-a|--pass)\s{}", r"-(?:a|-pass)\s", "redis-cli -h cache1 -a «velvet_tag» info"),
    (
        r"rabbitmqctl",
        r"(?:add_user|change_password)\s\S{1,60}\s{}",
        r"(?:add_user|change_password)",
        "rabbitmqctl add_user ada «tiger77»",
    ),
    (
        r"htpasswd",
        r"-[A-Za-z]{0,6}b[A-Za-z]{0,6}\s(?:\S{1,80}\s)?\S{1,60}\s{}",
        r"-[a-z]*b",
        "htpasswd -b web.auth ada «tiger77»",
    ),
    (r"\S{0,60}mkuser", r"-p\s{}", r"-p\s", "mkuser monadm -p «tiger77» -g Monitor"),
    (r"vncpasswd", r"{3}", r"\d", "vncpasswd «river22»"),
    (r"slmgr(?:\.vbs)?", r"[-/]ipk\s{}", r"[-/]ipk", "slmgr /ipk «LH7AN-FZ5D6-KQRGK-GXZL7-5IQPZ»"),
    (r"ssh-keygen", r"-[NP]\s{}", r"-[np]\s", 'ssh-keygen -t ed25519 -N "«velvet orchard 19»"'),
    (r"ipmi\w+|racadm|redfishtool", r"-[pP]\s{}", r"-p", "ipmitool -H bmc1 -U admin -P «tiger77» power on"),
    (
        r"mcl?i?",
        r"(?:alias set|config host add)\s\S{1,40}\s\S{1,120}\s{}",
        r"(?:alias set|config host add)",
        "mc alias set lab https://s3.lab.example «tiger77»",
    ),
    # Behind a user, without a name.
    (
        r"mcl?i?|poetry|composer",
        r"(?:alias set\s\S{1,40}\s|config host add\s\S{1,40}\s|http-basic\.)\S{1,120}\s\S{1,80}\s{}",
        r"(?:alias set|config host add|http-basic\.)",
        "poetry config http-basic.lab ada «tiger77»",
    ),
    (r"sqlplus|expdp|impdp|rman|exp|imp", r"[\w.-]{1,40}/{3}(?=@)", r"/\S+@", "sqlplus scott/«tiger77»@ORCL"),
    (r"send(?:line)?", r"(?:--\s)?[\"']{3}(?=\\[rn])", r"\\[rn]", r'send "«tiger77»\r"'),
)
VALUE_OF_OPTION = (
    r"(?:(?P<q>[\"'])(?P<w>[^\"'\n-][^\"'\n]{2,80})(?P=q)|[\"']?(?P<v>[^\s\"'-][^\s\"']{2,}|[^\s\"'-]{3}))"
)


def option(command: str, form: str) -> str:
    """The pattern of a command's option. {} any value, {3} one that looks like a password, {16} a long one."""
    values = {
        "{}": VALUE_OF_OPTION,
        "{bare}": r"(?P<v>[^\s\"'-][^\s\"']{2,}|[^\s\"'-]{3})",
        "{3}": r"(?P<v>(?=[^\s\"'@\\]*(?:\d|[^\w\s\\\"']))(?!\d+:)[^\s\"'\\@-][^\s\"'\\@]{2,})",
        "{16}": r"(?P<v>[\w+=-]{16,})",
    }
    marks = [mark for mark in values if mark in form]
    return rf"(?:(?<=[\s;|&(/`])|^)(?:{command})\s(?:[^\n]{{0,160}}?\s)??{form.replace(marks[0], values[marks[0]])}"


IN_COMMANDS = (
    # What is sent after a password was asked for: expect, pexpect.
    MaskingRule(
        "KEY",
        r"expect.*(?:word|phrase|code|pin)\b|(?:word|phrase|code|pin)\b.*\bsend",
        r"(?:assword|assphrase|passcode|PIN)\b(?:[^\n]{0,120}?|[^\n]{0,60}\n[^\n]{0,60}?)\bsend(?:line)?\b[\s(]{0,3}(?:--\s{0,3})?"
        r"(?P<q>[\"'])(?P<w>(?:(?!(?P=q))[^\n\\]|\\.){3,80})(?P=q)",
        is_secret,
        example="c.expect('password:'); c.sendline('«velcro»')",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r"\bpass\s\S+\\r",
        r"\bPASS\s(?P<v>[^\s\\\"]{3,60})\\r\\n",
        is_secret,
        example=r'write(3, "PASS «velcro»\r\n", 18)',
    ),
    # The last of a call's values, where the call logs somebody in.
    MaskingRule(
        "KEY",
        r"(?:login|log_in|sign_?in|authenticate|auth|credentials?|set_password|connect)\(",
        r"(?i)(?:login|log_in|sign_?in|authenticate|\w*auth|\w*credentials?|set_password)\((?=[^()\n]{0,120}[\"'][^()\n]{0,120},)[^()\n]{0,120}?,\s?[rbu]?(?P<q>[\"'])(?P<w>[^\"'\n]{3,120})(?P=q)\s?\)"
        r"|\bconnect\((?=[^()\n]{0,120}[\"'],)[^()\n]{1,120}?,\s?[\"'](?P<v>(?=[^\"'\n]*[\d!@#$%^&*+=~-])[^\"'\n./]{5,80})[\"']\s?[,)]",
        is_secret,
        example='smtp.login("ada@lab.example", "«tiger77»")',
    ),
    *(
        MaskingRule("KEY", rf"(?:^|[\s;|&(/`])(?:{command})\s.*?{marks}", option(command, form), is_typed, example)
        for command, form, marks, example in COMMANDS
    ),
    MaskingRule(
        "KEY",
        r"\b(?:echo|printf)\b.*\|",
        r"\b(?:echo|printf)\s(?:-\w+\s)?(?:(?P<q>[\"'])(?:[\w.-]{1,32}:)?(?P<w>[^\"'|$\n]{3,80})(?P=q)"
        r"|(?:[\w.-]{1,32}:)?(?P<v>[^\s\"'|$][^\s\"'|]{2,}))\s?\|\s?[^\n|]{0,120}?(?:\bssh-add\b|\bsudo\s[^|\n]{0,20}-\w*S|\bpasswd\b|chpasswd|-stdin\b|\blogin\b"
        r"|with-token|\bkinit\b|\bgpg\b|cryptsetup|\bbase64\s+-{1,2}[dD]|\bsu\b|\b\w*init\b|log[io]n)",
        is_secret,
        example="echo «tiger77» | sudo -S apt install foo",
    ),
    MaskingRule(
        "KEY",
        r"(?:passwd|kinit|init|secret-tool|cryptsetup|gpg|sudo|login|\bsu|-stdin|token)\b.*<<<",
        r"\b(?:\w*passwd|\w*init|secret-tool|cryptsetup|gpg|sudo|login|su|[\w-]+-stdin|with-token|token)\b[^\n|]{0,160}?<<<\s?[\"']?"
        r"(?:[\w.-]{1,32}:)?(?P<v>[^\s\"'|$]{3,})",
        is_secret,
        example="cryptsetup open /dev/sdb1 data <<< «tiger77»",
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
        r"(?i)\bu(?:ser(?:name)?)?\s?[:=]\s?[^\s&]{1,40}[\s,;/&]{1,3}p(?:w|ass|wd)?\s?[:=]\s?(?P<v>[^\s\"',;]{4,})",
        is_secret,
        example="u: ada p: «tiger77»",
    ),
)

"""Secrets that show by themselves: the shapes of many makers, in addresses, in headers. Read by masking_keys.py."""

from __future__ import annotations

import re

from knowledge.masking_rule import MaskingRule
from knowledge.masking_words import is_made, is_password, is_random, is_secret, is_told

# What follows a maker's prefix -> the prefixes. Lengths are lower bounds: a cut token is still one.
TOKENS = {
    r"(?:(?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{8,}|[a-z]{16,})": "hf_",
    r"[A-Za-z0-9]{20,}": "hfp_ api_org_ ATBB npm_ AKCp",
    r"[\w-]{16,}": "wandb_v1_ tvly- GOCSPX- pypi- dckr_pat_ dckr_oat_ tskey- sb_secret_",
    r"[\w-]{12,}": "sk- nvapi- glpat- gldt- glrt- glcbt- glptt- glft- gloas- glsoat- glffct-",
    r"\w{12,}": "sk_live_ sk_test_ rk_live_ gsk_ gho_ ghu_ ghs_ ghr_ github_pat_",
    r"\w{16,}": "whsec_",
    r"\w{20,}": "xai- pplx- r8_ lsv2_ pcsk_ KGAT_ ntn_ glsa_ rubygems_ CLOJARS_ "
    "sqp_ squ_ sqa_ CCIPAT_ bkua_ lin_api_ sntryu_ nfp_ sbp_ vercel_ dp.pt.",
    r"[A-Za-z0-9]{22,}": "fw_",
    r"[a-z0-9]{20,}": "csk-",
    r"[\w-]{20,}": "tgp_v1_ AIza ya29. HRKU- hvs. hvb. hvr. figd_ PMAK- NRII-",
    r"(?=[\w-]*\d)[A-Za-z0-9_]{30,}": "voyage-",
    r"\w{30,}": "jina_",
    r"[A-Z0-9]{20,}": "rpa_ NRAK- AGE-SECRET-KEY-1",
    r"[A-Za-z0-9]{22}\b": "ak- as-",
    r"(?=\w*\d)(?=\w*[A-Z])\w{24,}": "secret_",
    r"\w{10,}": "ghp_",
    r"[\w+/=]{20,}": "glc_ sntrys_",
    r"[\w=-]{20,}": "ATCTT3 ATATT3",
    r"[\w-]{10,}": "xoxa- xoxb- xoxe- xoxe.xoxp- xoxp- xoxr- xoxs- xoxc- xapp-",
    r"[\w%+/=-]{10,}": "xoxd-",
    r"[A-Z0-9]{12,}": "AKIA ASIA",
    r"[A-Za-z0-9+/]{40,}={0,2}": "ABSK",
    r"[\w-]{30,}": "AQ.Ab 1//0 AQVN",
    r"[A-Za-z0-9]{12,}": "LTAI",
    r"(?=\w*\d)[A-Za-z0-9]{28,}": "AKID",
    r"(?=[A-Z0-9]*\d)[A-Z0-9]{17}\b": "SCW",
    r"[\w+/=,-]{20,}": "FlyV1-",
    r"[a-z0-9]{43}\b": "oy2",
    r"[\w=]{20,}": "cmVmdGtu",
    r"[0-9a-f]{20,}": "dop_v1_ doo_v1_ dor_v1_ shpat_ shpss_ shppa_",
    r"[0-9a-f]{32}": "dapi dkea",
    r"[\w-]{16,}\.[\w-]{16,}": "SG.",
    r"[0-9a-f]{32}\b": "key-",
    r"[0-9a-f]{32,}": "pul-",
    r"[A-Z0-9.]{20,}": "dt0c01.",
    r"[\w.-]{16,}": "pscale_tkn_ pscale_pw_",
    r"[\w.]{20,}": "dp.st.",
    r"eyJ[\w-]{20,}": "ops_",
    r"[A-Za-z0-9]{30,}": "EAAC",
    r"[\w-]{18,}": "sq0atp- sq0csp- sq0idp-",
    r"[\w+/=,-]{40,}": "fm1_ fm2_ fo1_",
    r"[\w-]{60,}": "sl.",
    r"[A-Za-z0-9]{14}\.[0-9a-f]{32,}": "pat",
    r"[A-Za-z0-9]{24,}": "aio_",
    r"(?=\w*\d)[A-Za-z0-9]{30,}": "PRIVATE-",
    r"[\da-f-]{30,}": "pat-eu1- pat-na1- pat-na2-",
    r"[\w.-]{20,}": "pk.eyJ sk.eyJ",
    r"[\w+/=]{12,}": "LS0tLS1CRUdJT",
    r"(?:[\w-]{10,}(?:\.[\w-]{8,}){1,4}|(?=0eXBl|hcGlf|hdXRo|1c2Vy|wYXNz|0b2tl|hY2Nl|jbGll|zZWNy|rZXki"
    r"|wcml2)[\w+/=-]{20,})": "eyJ",
}
PREFIXES = {prefix: tail for tail, prefixes in TOKENS.items() for prefix in prefixes.split()}
PRIVATE_KEY = re.compile(
    r"(?s)-----BEGIN [A-Z ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|[A-Za-z ]{1,20}[Ss]tatic key[ V\d]{0,4})-----"
    r"(?=[^-]{0,400}[A-Za-z0-9+/=]{16})"
    r"(?:.{0,8000}?(?:-----END [\w ]{0,40}-----|\Z|\n\n(?![A-Za-z0-9+/=]{30}))|.{8000})"
    r"|\$ANSIBLE_VAULT;[^\n]{1,60}\n(?:[ \t]*[0-9a-f]{20,}(?:\n|\Z)){1,200}"
    r"|Private-Lines: \d{1,3}\n(?:[A-Za-z0-9+/=]+(?:\n|\Z)){1,100}"
)
MAKERS = (
    MaskingRule(
        "KEY",
        "|".join(re.escape(prefix) for prefix in PREFIXES),
        r"(?<![A-Za-z0-9_])(?P<v>" + "|".join(f"{re.escape(p)}{tail}" for p, tail in PREFIXES.items()) + ")",
        is_made,
        example="login(«hf_abcdefgh12345678»)",
    ),
    MaskingRule(
        "KEY",
        r"sign2?=",
        r"\bSIGN2?=\"?(?P<v>[0-9A-Z]{4}(?: (?:\\\n\s{0,20})?[0-9A-Z]{4}){4,40}|[0-9A-F]{12,})",
        reach=2,
        example='FEATURE solver vendord 2025.0131 31-jan-2026 64 SIGN="«FMTB 1JUG SFE8 IUN9 64KB 40FX»"',
    ),
    MaskingRule(
        "KEY",
        r"(?:feature|increment)\s",
        r"(?:FEATURE|INCREMENT)\s\S{1,60}\s\S{1,30}\s\S{1,20}\s\S{1,20}\s\S{1,20}\s(?P<v>[0-9A-Z]{16,})\b",
        example="INCREMENT toolbox MLM 46 01-nov-2026 256 «UZR80KVEFZIXI9RNZ42G8M4B8K426W4H»",
    ),
    MaskingRule(
        "KEY",
        r"\t(?:true|false)\t\S*\t(?:true|false)\t\d+\t",
        r"\t(?:TRUE|FALSE)\t\S{1,80}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,80}\t(?P<v>[^\s]{8,400})",
        example=".lab.example\tTRUE\t/\tTRUE\t1762086301\tsessionid\t«blk5eqosu0imxrfashp1»",
    ),
    MaskingRule(
        "KEY",
        r"globusconnect\w*\s.*-setup\s",
        r"globusconnect\w*\s[^\n]{0,80}?-setup\s(?P<v>[0-9a-f-]{30,})",
        example="./globusconnectpersonal -setup «83d14b0b-be9d-42a0-8ba6-bb666fe2d896»",
    ),
    MaskingRule(
        "KEY",
        r"google_authenticator|otpauth|totp_auth|oathtool",
        r"(?i:google_authenticator|otpauth|TOTP_AUTH|oathtool)[^\n]{0,80}?\s(?:-\S{1,8}\s){0,4}(?P<v>[A-Z2-7]{16,52})\b",
        example="$ head -3 ~/.google_authenticator\n«AF7UW3CXJ74E4HWRHVDYDSFY4R»",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r"mit-magic-cookie",
        r"MIT-MAGIC-COOKIE-1\s{1,4}(?P<v>[0-9a-f]{32})",
        example="host/unix:11  MIT-MAGIC-COOKIE-1  «f258f11e68a6623b8c35ba43824e68c5»",
    ),
    MaskingRule(
        "KEY", r"8q~", r"(?P<v>[\w.~-]{3}8Q~[\w.~-]{30,40})", example="azure «abc8Q~0123456789abcdefghijABCDEFGHIJ12»"
    ),
    MaskingRule(
        "KEY",
        r"\d:[0-9a-f]{32}",
        r"(?<![\w/])(?P<v>[12]/\d{8,20}(?:/\d{8,20})?:[0-9a-f]{32})\b",
        example="asana «1/1234567890123456:0123456789abcdef0123456789abcdef»",
    ),
    MaskingRule(
        "KEY",
        r"\bac[0-9a-f]{32}",
        r"\bAC[0-9a-f]{32}[^\w\n]{1,6}(?P<v>[0-9a-f]{32})\b",
        example="Client('AC0123456789abcdef0123456789abcdef', '«a1b2c3d4e5f60718293a4b5c6d7e8f90»')",
    ),
    MaskingRule(
        "KEY",
        r"\.atlasv1\.",
        r"\b(?P<v>[A-Za-z0-9]{10,20}\.atlasv1\.[\w-]{20,})",
        example="«a1B2c3D4e5F6g7.atlasv1.0123456789abcdefghijk»",
    ),
    MaskingRule(
        "KEY",
        r"\d:aa",
        r"(?<!\d)(?P<v>\d{8,10}:AA[\w-]{30,36})\b",
        example="bot «123456789:AA0123456789abcdefghij0123456789abc»",
    ),
    MaskingRule(
        "KEY", r"[0-9a-f]-us\d", r"\b(?P<v>[0-9a-f]{32}-us\d{1,2})\b", example="«0123456789abcdef0123456789abcdef-us12»"
    ),
    MaskingRule(
        "KEY",
        r"m[a-z0-9_-]{20,}\.[\w-]{6}\.",
        r"\b(?P<v>[MN][A-Za-z\d_-]{22,27}\.[\w-]{6}\.[\w-]{27,40})\b",
        example="discord «MTA0123456789abcdefghijkl.Gabcde.0123456789abcdefghijklmnopq»",
    ),
    MaskingRule(
        "KEY",
        r"/(?:services|workflows|triggers)/t",
        r"/(?:services|workflows|triggers)/(?P<v>T[A-Z0-9]{1,14}/[A-Z0-9]{1,14}/\w{10,})",
        example="https://hooks.slack.com/services/«T01/B02/a7b8c9d0e1f2»",
    ),
    MaskingRule(
        "KEY",
        r"/api/webhooks/\d",
        r"/api/webhooks/(?P<v>\d{5,20}/[\w-]{7,})",
        example="https://discord.com/api/webhooks/«12345/abcdefg7»",
    ),
    MaskingRule(
        "KEY",
        r"/(?:incoming)?(?:web)?hooks?(?:b2)?/",
        r"(?:/incomingwebhook|/webhook|/hooks?)(?:b2)?/(?P<v>(?=[\w@/-]*\d)[\w@/-]{24,})",
        example="https://x.webhook.office.com/webhookb2/«0a1b2c3d-0000@1111/IncomingWebhook/abc»",
    ),
    MaskingRule(
        "KEY",
        r"://\S*/(?:reset\w*|private|shared?|s|invite|verify|confirm|activate|magic|token)/",
        r"://[^\s/]+/(?:[\w.-]+/){0,4}?(?:reset\w*|private|shared?|s|invite|verify|confirm|activate|magic|token)/"
        r"(?P<v>(?=[\w/-]*\d)(?:[\w-]{1,12}/)?[\w-]{12,})(?=/|\W|$)",
        is_random,
        example="https://portal.lab/reset/«MTQx/4oi0oh-58a6989fa7f37a3a8e4de90c»/",
    ),
    MaskingRule(
        "KEY",
        r"\d{5,6}(?:-\d{5,6}){4}|\*[0-9a-f]{40}|md5[0-9a-f]{32}|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\bcccc[cbdefghijklnrtuv]{28}|A{16}",
        r"(?<![\w-])(?P<v>\d{5,6}(?:-\d{5,6}){4,15}|\*[0-9A-F]{40}|(?<=[\"'])md5[0-9a-f]{32}"
        r"|(?=[a-z0-9]*\d)[a-z0-9]{6}\.(?=[a-z0-9]*\d)[a-z0-9]{16}|cccc[cbdefghijklnrtuv]{28,40}|A{16,}[\w%-]{30,})(?![\w-])",
        example="BitLocker «243255-722147-385226-538796-380780-675383-722642-212251»",
    ),
    MaskingRule(
        "KEY",
        r"/t/",
        r"/t/(?P<v>(?=[A-Za-z]*\d)[A-Za-z0-9]{24,64}|(?:[a-z]{2}-)?[0-9a-f]{8}-[\w-]{20,}|[0-9a-z]{2}-[0-9a-f]{8}-[\w-]{20,})/",
        example="https://conda.example.org/t/«ab-01234567-89ab-cdef-0123-456789abcdef»/main",
    ),
    MaskingRule(
        "KEY",
        r"\$[\w-]+\$|\{s?sha",
        r"(?P<v>(?<![\w$])\$(?:1|2[abxy]|5|6|7|8|9|y|gy|md5|apr1|argon2id?|argon2i|scrypt|pbkdf2[\w-]*)\$"
        r"[^\s:'\"]{12,}|\{S?SHA(?:256|512)?\}[\w+/=]{20,})",
        example="x:«$6$abcdefgh$0123456789abcdef»:19000",
    ),
    MaskingRule(
        "KEY",
        r"pbkdf2[_.]|scrypt:|sha\d+:",
        r"(?P<v>\b(?:pbkdf2_sha\d+\$|grub\.pbkdf2\.sha\d+\.\d+\.|scrypt:\d+:|sha(?:1|256|512):(?=[0-9a-f]{8,32}:))[^\s:'\"]{20,}(?::[^\s:'\"]+)*)",
        example="«pbkdf2_sha256$260000$abcdefgh$0123456789abcdef=»",
    ),
    MaskingRule(
        "KEY",
        r"(?:akia|asia)[a-z0-9]{12}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}(?:[^\nA-Za-z0-9/+]|[^\S\n][A-Za-z]{1,20}|\n){1,8}?(?P<v>(?<!"
        r"[A-Za-z0-9/+])[A-Za-z0-9/+]{40}=?)(?![A-Za-z0-9/+])",
        example="AKIAQ7MADEUPMADEUP00 key: «a7Madeup/0123456789abcdefghijABCDEFGHIJ1»",
        reach=1,
    ),
    MaskingRule(
        "KEY",
        r"[0-9a-f]{40}",
        r"(?<![\w/@.:+-])(?P<v>[0-9a-f]{40})(?![\w@/.-])",
        is_random,
        example="«0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e0a1b2c3d4e» was refused",
    ),
)
IN_ADDRESSES = (
    MaskingRule(
        "KEY",
        r"//[^/@]*:[^/@]*@",  # a slip may have lost the colon before
        r"\b(?i:[a-z][a-z0-9+._-]{1,20}):?//[^\s/@:'\"<>]{0,80}:(?P<v>[^\s/'\"<>]{1,200})@(?=[\w\[])",
        is_password,
        example="postgresql://ada:«hunter3»@db1/x",
    ),
    MaskingRule(
        "KEY",
        r"\bjdbc:.*/\S+@",
        r"(?i)\bjdbc:[\w:]{1,40}:[\w.-]{1,40}/(?P<v>[^\s/@]{3,80})@",
        example="jdbc:oracle:thin:scott/«hunter3»@//db1:1521/x",
    ),
    MaskingRule(
        "KEY",
        r"://[^/@:\s]{16,}(?::[^/@:\s]*)?@",
        r"://(?P<v>[\w.%~-]{16,200})(?::[^\s/@:]{0,80})?@",
        is_random,
        example="https://«0123456789abcdef0123456789abcdef»@o1.ingest.sentry.io/4",
    ),
    MaskingRule(
        "KEY",
        r":[^\s:@/]{4,}@[\w.-]",
        r"(?<![\w.:/@-])(?!after)[A-Za-z][\w.-]{1,31}:(?P<v>[^\s:@/\"']{4,80})@(?!sha256)(?=[\w.-]*[A-Za-z0-9])",
        is_told,
        example="ada:«tiger-77»@10.1.2.3",
    ),
    MaskingRule(
        "KEY",
        r":pserver:",
        r":pserver:[\w.-]{1,40}:(?P<v>[^\s:@]{3,80})@",
        example="cvs -d :pserver:anon:«tiger-77»@cvs.lab.example:/cvsroot",
    ),
    MaskingRule(
        "KEY",
        r"^[\w.-]+:[^:]{4,}:\d+:\d+:",
        r"^[\w.-]{1,40}:(?P<v>[^\s:*!$]{4,80}):\d{1,10}:\d{1,10}:[^:\n]{0,80}:/",
        is_secret,
        example="hpcstud01:«Maple-12»:6001:600:a course:/home/hpcstud01:/bin/bash",
    ),
    MaskingRule(
        "KEY",
        r"^[\w.*-]+:(?:\d+|\*):",
        r"^(?![\w.-]{1,80}\.(?:py|c|cc|cpp|cu|h|hpp|f90|sh|jl|rs|go|log|txt|yaml):)"
        r"[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:(?P<v>[^\s:]{3,80})\s*$",
        is_secret,
        example="db1:5432:runs:ada:«tiger-77»",
    ),
)
IN_HEADERS = (
    MaskingRule(
        "KEY",
        r"bearer|authorization",
        r"(?i)(?:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:[a-z][\w-]{2,20}\s{1,3})?"
        r"|\bbearer[\s:]{1,4})(?P<v>[\w.~+/=:-]{8,})",
        is_secret,
        example="> Authorization: Bearer «0123456789abcdef»",
    ),
    MaskingRule(
        "KEY",
        r"(?:sess|csrf|xsrf|sid\b).*=",
        r"(?i)\b_?(?:[a-z]{1,20}[_-])?(?:\w{0,8}sess(?:ion)?[_-]?(?:id)?|connect\.sid|csrf_?token|_?xsrf)="
        r"[\"']?(?P<v>(?=[\w%.|:+/-]{0,80}\d)[\w%.|:+/-]{10,})",
        example="sessionid=«ab12cd34ef56»; theme=dark",
    ),
)

"""Serving with keys and values kept in host memory: LMCache under vLLM's server, as edits of a job.

Names from https://docs.lmcache.ai (configuration and vLLM pages, read November 2026) and vLLM's `--kv-transfer-config`;
the wheels were not run here, and the script's note says how to check them against the installed version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.reading.edits import Add, Edit, Remove
from knowledge.catalogue import catalogue
from knowledge.job_parts import ArgumentEdit
from knowledge.types import JobRequest, Variable

WORDS = (
    r"\b(?:(?:use|with|add|through|by|via)\s+)?lm[- ]?cache\b"
    r"|\b(?:keep|re-?use|share|offload|cache|store)\s+(?:the\s+|its\s+)?(?:kv|keys? (?:and|/) values?)"
    r"(?:[- ]cache)?\b"
    r"(?:\s+(?:cache|in|on|to)\b[^.,;\n]{0,30})?(?:\s+(?:with|by|through|via|using)\s+lm[- ]?cache\b)?"
)
OPTION = "--kv-transfer-config"
CONNECTOR = '\'{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}\''
PAGE = "https://docs.lmcache.ai"
# GB of main memory for each GPU's process: half a node's, and no more than this, nor less where nothing is known.
MOST_GB, USUAL_GB = 100, 20
MOST_WORDS = 60
WHY = f"LMCache keeps keys and values in main memory ({PAGE}; check against `python -c 'import lmcache'`)"


def is_served(request: JobRequest) -> bool:
    return request.framework == "vllm" or (request.entry or "").startswith("vllm serve")


def kv_reuse(match: re.Match[str], request: JobRequest) -> Sequence[Edit]:
    """The connector as vLLM's argument and LMCache's settings as variables; nothing where no vLLM server is spoken of.

    One kind of setting only: a file (`LMCACHE_CONFIG_FILE`) would make the variables void.
    """
    if not is_served(request) and not re.search(r"(?i)\bvllm\b", match.string):
        return ()
    settings = {
        "LMCACHE_CHUNK_SIZE": "256",
        "LMCACHE_LOCAL_CPU": "True",
        "LMCACHE_MAX_LOCAL_CPU_SIZE": str(memory_gb(request, match.string)),
    }
    old = [Remove("variables", one) for one in request.variables if one.name in settings]
    new = [Add("variables", Variable(name, value, WHY), match[0].strip()) for name, value in settings.items()]
    return (*old, Add("argument_edits", ArgumentEdit("set", OPTION, CONNECTOR), match[0].strip()), *new)


def memory_gb(request: JobRequest, words: str) -> int:
    """Half of what a node of the job's machine has, shared by its GPUs. words: the message, which may name it first."""
    names = [request.machine] if request.machine else re.findall(r"[\w-]{3,}", words)[:MOST_WORDS]
    cluster = next((found for name in names if (found := catalogue().find(name))), None)
    if cluster is None:
        return USUAL_GB
    named = [node for node in cluster.node_types if node.id == request.node_type]
    node = named[0] if named else cluster.node_type(cluster.default_queue.node_types[0])
    memory, gpus = node.job_memory_gb or node.memory_gb, node.gpus.devices_per_node
    return min(MOST_GB, int(memory / 2 / gpus)) if memory and gpus else USUAL_GB

"""A small Slurm with slurmdbd and MariaDB: four nodes, limits of QOS, account and partition, a licence, a reservation.

It runs as this user (root in CI), in a folder of its own, and ends with the test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from virtual_slurm import NEEDED, SEARCHED, VirtualSlurm, free_ports, head, place, running

from knowledge.catalogue import catalogue

NODES = ("127.0.2.1", "127.0.2.2", "127.0.2.3")
ALONE = "127.0.2.4"
"""A node of a partition of its own."""
TIMED = "127.0.2.5"
"""A node of a partition where jobs run into their time limit, a minute, while the rest is provoked."""
DATABASE = ("slurmdbd", "sacctmgr", "mariadbd", "mariadb", "mariadb-install-db")
PARTITIONS = """\
PartitionName=gpu Nodes={nodes} MaxTime=02:00:00 MaxNodes=3 State=UP Default=YES
PartitionName=debug Nodes={nodes} MaxTime=00:30:00 MaxNodes=1 State=UP
PartitionName=closed Nodes={nodes} State=DOWN
PartitionName=spare Nodes={alone} MaxTime=02:00:00 State=UP
PartitionName=timed Nodes={timed} MaxTime=00:02:00 State=UP
PartitionName=others Nodes={nodes} State=UP AllowAccounts=other
PartitionName=large Nodes={nodes} MinNodes=2 State=UP
PartitionName=listed Nodes={nodes} State=UP AllowQos=short
"""
DBD = """\
AuthType=auth/munge
AuthInfo=socket={folder}/run/munge.socket
DbdHost=localhost
DbdPort={dbd}
SlurmUser={user}
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct
"""
GRANTS = (
    "create user slurm@localhost identified by 'x'; create user slurm@127.0.0.1 identified by 'x'; "
    "grant all on slurm_acct.* to slurm@localhost; grant all on slurm_acct.* to "
    "slurm@127.0.0.1; create database slurm_acct"
)
ACCOUNTING = """\
add cluster {cluster}
add qos small set MaxTRESPerUser=node=1 MaxJobsPerUser=9
add qos one set MaxJobsPerUser=1
add qos short set MaxWall=00:05:00
add qos wide set MinTRES=node=2
add qos tight set GrpTRES=node=1
add qos node set MaxTRESPerJob=node=1
add qos few set GrpJobs=1
add qos team set MaxJobsPerAccount=1
add qos minutes set MaxTRESMinsPerJob=cpu=10
add account proj set QOS=normal,small,one,short,wide,tight,node,few,team,minutes DefaultQOS=normal
add account poor set QOS=normal GrpTRESMins=cpu=1
add account other set QOS=normal
add account brief set QOS=normal MaxWall=00:05:00
add account narrow set QOS=normal MaxTRESPerJob=node=1
add account shared set QOS=normal GrpTRES=node=1
add account single set QOS=normal MaxJobs=1
add account pair set QOS=normal GrpJobs=1
add user {user} account=proj
add user {user} account=poor
add user {user} account=brief
add user {user} account=narrow
add user {user} account=shared
add user {user} account=single
add user {user} account=pair
"""


class AccountingSlurm(VirtualSlurm):
    """With slurmdbd and MariaDB started before the controller."""

    def up(self) -> None:
        self.up_munge()
        database(self)
        self.start("slurmdbd", "-D")
        self.wait(lambda: self.run("sacctmgr", "-n", "show", "cluster").returncode == 0)
        for line in ACCOUNTING.format(cluster=self.cluster.id, user="root").splitlines():
            self.run("sacctmgr", "-i", "-Q", *line.split())
        self.up_control()


def missing_accounting() -> str:
    """Why no Slurm with accounting can be started here; empty when one can."""
    if os.getuid() != 0:
        return "a Slurm with accounting is started by root only"
    absent = [name for name in (*NEEDED, *DATABASE) if shutil.which(name, path=SEARCHED) is None]
    return f"{', '.join(absent)} not found: install slurm-wlm, slurmdbd, mariadb-server and munge" if absent else ""


def database(slurm: VirtualSlurm) -> None:
    """MariaDB with the empty database of slurmdbd."""
    at = slurm.folder
    data = at / "db"
    data.mkdir()
    shutil.chown(data, "mysql")
    install = ["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={data}", "--skip-test-db"]
    subprocess.run(
        [*install, "--auth-root-authentication-method=normal"], env=slurm.environment, capture_output=True, check=True
    )
    ports = dict(line.split("=") for line in (at / "etc" / "ports").read_text().split())
    slurm.start(
        "mariadbd", "--no-defaults", "--user=mysql", f"--datadir={data}", f"--socket={data}/s",
        f"--port={ports['sql']}", "--bind-address=127.0.0.1", f"--pid-file={data}/pid", "--innodb-buffer-pool-size=64M",
        "--innodb-lock-wait-timeout=900", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0",
    )  # fmt: skip
    slurm.wait(lambda: slurm.run("mariadb", "--no-defaults", "-S", f"{data}/s", "-e", "select 1").returncode == 0)
    slurm.run("mariadb", "--no-defaults", "-S", f"{data}/s", "-e", GRANTS)


@contextmanager
def accounting_slurm() -> Iterator[VirtualSlurm]:
    """Three nodes with accounts, QOS and limits; jobs are those of this user."""
    cluster = catalogue().clusters["perlmutter"]
    with place(cluster) as folder:
        control, dbd, sql, *ports = free_ports(5 + len(NODES))
        conf = head(cluster, folder, control, patience=10)
        conf = conf.replace("EnforcePartLimits=ALL", "EnforcePartLimits=NO").replace("JobSubmitPlugins=lua\n", "")
        conf = conf.replace("accounting_storage/none", "accounting_storage/slurmdbd").replace(
            "MinJobAge=300", "MinJobAge=60"
        )
        conf += (
            f"AccountingStorageHost=127.0.0.1\nAccountingStoragePort={dbd}\nAccountingStorageEnforce=limits,qos,safe\n"
        )
        conf += f"AccountingStoragePass={folder}/run/munge.socket\n"
        conf += "AccountingStoreFlags=job_script\nLicenses=sim:1\n"
        host = os.uname().nodename.split(".")[0]
        for name, port in zip((*NODES, ALONE, TIMED), ports, strict=True):
            conf += (
                f"NodeName={name} NodeAddr={name} NodeHostname={host} Port={port} CPUs=4 "
                f"RealMemory=2000 State=UNKNOWN{' Feature=fast' if name == NODES[2] else ''}\n"
            )
        conf += PARTITIONS.format(nodes=",".join(NODES), alone=ALONE, timed=TIMED)
        (folder / "etc" / "slurm.conf").write_text(conf)
        (folder / "etc" / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (folder / "etc" / "ports").write_text(f"sql={sql}\n")
        dbd_conf = folder / "etc" / "slurmdbd.conf"
        dbd_conf.write_text(DBD.format(folder=folder, dbd=dbd, sql=sql, user="root"))
        dbd_conf.chmod(0o600)
        with running(AccountingSlurm(cluster, folder, [*NODES, ALONE, TIMED])) as slurm:
            yield slurm

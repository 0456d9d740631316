# SPDX-License-Identifier: BSD-3-Clause
"""Processes: stores that carry a unique id, fork, multiprocessing, Ctrl-C, the end of a program."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from typing import Any, Dict, List, Optional, Tuple

import pytest
from run import free_port

import warpshmem as shmem

OSHRUN = os.environ.get("WSH_PY_OSHRUN", "")
HEAD = """
import os, signal, sys, threading, time
import numpy as np
import warpshmem as shmem
"""


class Running:
    """Processes of one program; ended at the end of the test."""

    def __init__(
        self, program: str, arguments: List[List[str]], environments: List[Dict[str, str]]
    ) -> None:
        text = HEAD + textwrap.dedent(program)
        self.processes = [
            subprocess.Popen(
                before + [sys.executable, "-c", text],
                env=dict(os.environ, PYTHONUNBUFFERED="1", **more),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for before, more in zip(arguments, environments)
        ]

    def await_line(self, word: str) -> None:
        """Wait until each has printed a line that begins so."""
        for process in self.processes:
            for line in iter(process.stdout.readline, ""):
                if line.startswith(word):
                    break
            else:
                raise AssertionError(process.stderr.read())

    def end(self, limit: float = 60) -> Tuple[List[int], str, str]:
        """Return statuses and output."""
        out = [process.communicate(timeout=limit) for process in self.processes]
        statuses = [process.returncode for process in self.processes]
        return statuses, "".join(one for one, _ in out), "".join(two for _, two in out)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def by_uid(program: str, n: int, more: Optional[Dict[str, str]] = None) -> Running:
    """Start n processes with what torchrun would set."""
    world = {"WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    world.update(more or {})
    return Running(program, [[]] * n, [dict(world, RANK=str(rank)) for rank in range(n)])


def by_oshrun(program: str, n: int) -> Running:
    """Start n PEs."""
    return Running(program, [[OSHRUN, "-n", str(n)]], [{}])


def good(running: Running) -> str:
    """Wait for processes that end well, and return what they print."""
    with running:
        statuses, out, err = running.end()
    assert not any(statuses), err
    return out


RING = """
me, n = shmem.my_pe(), shmem.n_pes()
box = shmem.zeros(1, "int64")
shmem.p(box, me + 100, (me + 1) % n)
shmem.barrier_all()
assert box[0] == (me + n - 1) % n + 100
print("PE", me, "of", n)
shmem.finalize()
"""


def indented(text: str) -> str:
    """Return a program's lines as a block's."""
    return text.replace("\n", "\n    ")


def test_alone() -> None:
    assert good(Running("shmem.init()" + RING, [[]], [{}])) == "PE 0 of 1\n"


def test_the_environment_of_torchrun() -> None:
    assert good(by_uid("shmem.init()" + RING, 3)).count("of 3") == 3


def test_torchrun_on_one_host() -> None:
    """Its own store at MASTER_PORT is not asked, and its port may be taken: by torchrun."""
    more = {"LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_USE_AGENT_STORE": "True", "MASTER_ADDR": "::1"}
    with socket.create_server(("", 0)) as agent:
        more["MASTER_PORT"] = str(agent.getsockname()[1])
        out = good(by_uid("for job in range(2):\n    shmem.init()" + indented(RING), 2, more))
    assert out.count("of 2") == 4


def test_a_host_that_is_not_known() -> None:
    """A line soon, and the exception at the end."""
    more = {"MASTER_ADDR": "no-such-host.invalid", "SHMEM_BOOTSTRAP_UID_SECONDS": "1"}
    with Running("shmem.init(1, 2)", [[]], [dict(more, MASTER_PORT="4711")]) as running:
        statuses, _, err = running.end()
    assert statuses == [1] and "check MASTER_ADDR and MASTER_PORT" in err
    assert "note: the host name no-such-host.invalid is not known here" in err


def test_a_file(tmp_path: Any) -> None:
    path = tmp_path / "id"
    program = "shmem.init(store=%r)" % str(path)
    assert good(by_uid(program + RING, 2, {"MASTER_ADDR": ""})).count("of 2") == 2
    assert not path.exists()


def test_a_file_that_is_there(tmp_path: Any) -> None:
    path = tmp_path / "id"
    path.write_bytes(b"")
    with by_uid("shmem.init(store=%r)" % str(path), 1) as running:
        statuses, _, err = running.end()
    assert statuses == [1] and "is there already; remove it" in err


def test_tcp() -> None:
    program = "shmem.init(int(os.environ['RANK']), 2, store='tcp://127.0.0.1:%d')" % free_port()
    assert good(by_uid(program + RING, 2, {"MASTER_ADDR": "", "WORLD_SIZE": ""})).count("of 2") == 2


def test_a_unique_id_in_the_environment() -> None:
    """One process makes the id and is rank 0; who starts the others passes it on."""
    unique = shmem.get_unique_id()
    program = "shmem.init(int(os.environ['RANK']), 2, bytes.fromhex(os.environ['UNIQUE']))"
    assert good(by_uid(program + RING, 2, {"UNIQUE": unique.hex()})).count("of 2") == 2


def test_any_store_and_two_jobs(tmp_path: Any) -> None:
    program = """
    class Store:
        def set(self, key, value):
            with open(%r + key, "wb") as out: out.write(value)
            os.rename(%r + key, %r + key)
        def get(self, key):
            while not os.path.exists(%r + key): time.sleep(0.01)
            return open(%r + key, "rb").read()
    store = Store()
    for job in range(2):
        shmem.init(store=store)
        array = shmem.zeros(1, "int32")
        shmem.atomic_inc(array, 0)
        shmem.barrier_all()
        assert shmem.my_pe() or array[0] == 2
        shmem.finalize()
        del array
    """ % ((str(tmp_path / "part "),) * 2 + (str(tmp_path / "key "),) * 3)
    good(by_uid(program, 2))


def test_a_communicator_of_mpi4py() -> None:
    """A stand-in for mpi4py's: what is asked of it."""
    program = """
    class Communicator:
        def Get_rank(self): return int(os.environ["RANK"])
        def Get_size(self): return 2
        def bcast(self, value, root):
            path = os.environ["STORE"]
            if value is not None:
                with open(path + ".part", "wb") as out: out.write(value)
                os.rename(path + ".part", path)
            while not os.path.exists(path): time.sleep(0.01)
            return open(path, "rb").read()
    shmem.init(store=Communicator())
    """
    path = "/tmp/warpshmem-test-%d" % os.getpid()
    try:
        assert good(by_uid(textwrap.dedent(program) + RING, 2, {"STORE": path})).count("of 2") == 2
    finally:
        os.unlink(path)


def test_rank_0_is_not_there() -> None:
    more = {
        "RANK": "1",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    with Running("shmem.init()", [[]], [dict(more, SHMEM_BOOTSTRAP_UID_SECONDS="1")]) as running:
        statuses, _, err = running.end()
    assert statuses == [1] and "check MASTER_ADDR and MASTER_PORT" in err


def test_a_rank_does_not_come() -> None:
    """The library's own line is in the exception."""
    program = """
    try:
        shmem.init(0, 2, shmem.get_unique_id())
    except shmem.WarpshmemError as error:
        print("caught:", error)
    """
    out = good(Running(program, [[]], [{"SHMEM_BOOTSTRAP_UID_SECONDS": "1"}]))
    assert "caught: warpshmem: " in out


@pytest.mark.parametrize(
    "arguments, text",
    (
        ("0, 2, b'short'", "pass the 128 bytes of get_unique_id()"),
        ("2, 2, bytes(128)", "rank is 2; with n_pes=2 ranks are 0 to 1"),
        ("'x', 2, bytes(128)", "rank is 'x'; pass a whole number"),
        ("0, 1, store=5", "store is 5; pass a store of torch.distributed"),
        ("0, 1, store='tcp://there'", "write tcp://host:port"),
        ("0, 1, store='redis://there/0'", "addresses are tcp://host:port and file:///path"),
        ("0, 1, store='tcp://:4711'", "write tcp://host:port"),
        ("0, 1, store='/no/such/folder/id'", "cannot write the file /no/such/folder/id.part"),
        ("0, 2**40, bytes(128)", "there are at most 2147483647 PEs"),
        ("0, 1", "MASTER_ADDR and MASTER_PORT name no store"),
        ("thread_level='many'", "thread_level is 'many'; use one of single"),
        ("device='gpu:x'", "device is 'x'; pass a whole number"),
        ("0, 2, bytes(128)", "warpshmem: shmemx_init_attr"),
    ),
)
def test_wrong_arguments(arguments: str, text: str) -> None:
    program = "try: shmem.init(%s)\nexcept shmem.WarpshmemError as error: print(error)" % arguments
    if arguments == "0, 2, bytes(128)":
        text = ""  # the library's own words
    assert text in good(Running(program, [[]], [{}]))


def test_no_library(tmp_path: Any) -> None:
    program = "try: shmem.get_unique_id()\nexcept shmem.WarpshmemError as error: print(error)"
    out = good(Running(program, [[]], [{"WARPSHMEM_LIBRARY_DIR": str(tmp_path)}]))
    assert out.startswith("libwarpshmem.so.0 was not found") and str(tmp_path) in out
    assert "set WARPSHMEM_LIBRARY_DIR to the folder" in out


def test_before_and_after() -> None:
    program = """
    def refused(call, text):
        try: call()
        except shmem.WarpshmemError as error: assert text in str(error), error
        else: assert False
    refused(shmem.my_pe, "my_pe: the library has not been started; call warpshmem.init() first")
    refused(lambda: shmem.zeros(1), "not been started")
    shmem.init()
    team, array = shmem.TEAM_WORLD.create([0]), shmem.zeros(1)
    op = shmem.prepare_put(array, array, 0)
    shmem.finalize()
    shmem.finalize()
    refused(shmem.barrier_all, "finalized")
    refused(op, "finalized")
    refused(lambda: shmem.put(array, array, 0), "finalized")
    with shmem.Job():
        refused(op, "prepare_put: it was made in job 1 of this process, which is over; make")
        refused(team.sync, "which is over")
        del array, op
    assert not shmem.initialized()
    """
    good(Running(program, [[]], [{}]))


AFTER = """
import gc
for job in range(3):
    with shmem.Job():
        me, n = shmem.my_pe(), shmem.n_pes()
        arrays = [shmem.zeros(size, "int32") for size in (1, 5000, 100)]
        for array in arrays: array[:] = me + 7
        other = shmem.peer(arrays[1], (me + 1) % n)
        del arrays[2]
        view = arrays[1][4000:]
        shmem.barrier_all()
    assert arrays[0][0] == me + 7 and (view == me + 7).all()
    assert other[0] in ((me + 1) % n + 7, 5)  # as its PE has it
    arrays[1][:] = 5
    assert (view == 5).all()
    def mappings(): return sum("memfd" in line for line in open("/proc/self/maps"))
    before = mappings()
    del arrays, array, other, view
    gc.collect()
    assert mappings() < before
assert mappings() == 0, open("/proc/self/maps").read()
print("good")
"""


@pytest.mark.parametrize("n", (1, 2))
def test_arrays_after_the_end(n: int) -> None:
    """They keep what they hold; their memory goes with the last of them."""
    assert good(by_oshrun(AFTER, n)).count("good") == n


def test_a_refusal_is_not_printed_too() -> None:
    """The library's line is that of the exception, in another thread too; what ends the job is
    printed."""
    program = """
    def refused():
        try: shmem.init(0, 2, bytes(128))
        except shmem.WarpshmemError as error: print("caught", error)
    refused()
    thread = threading.Thread(target=refused)
    thread.start()
    thread.join()
    """
    with Running(program, [[]], [{}]) as running:
        statuses, out, err = running.end()
    assert (statuses, err, out.count("caught warpshmem: ")) == ([0], "", 2), out
    program = "shmem.init()\nshmem._lib.core().shmem_free(12345)"
    with Running(program, [[]], [{"SHMEM_DEBUG": "check"}]) as running:
        statuses, _, err = running.end()
    assert statuses != [0] and "shmem_free" in err


def test_an_exit_that_is_expected() -> None:
    """Without finalize a line warns, unless init was told."""
    for more, lines in (("", 1), ("may_exit=True", 0)):
        with by_oshrun("shmem.init(%s)" % more, 2) as running:
            statuses, _, err = running.end()
        assert (statuses, err.count("ended without shmem_finalize")) == ([0], lines), err


def test_fork() -> None:
    program = """
    shmem.init()
    array = shmem.zeros(4, "int32")
    op = shmem.prepare_put(array, array.copy(), 0)
    for _ in range(10):
        child = os.fork()
        if child == 0:
            for call in (op, shmem.barrier_all, shmem.my_pe, shmem.init, shmem.get_unique_id):
                try: call()
                except shmem.WarpshmemError as error: assert "a forked child of PE" in str(error)
                else: os._exit(1)
            del array, op
            shmem.finalize()
            os._exit(0 if not shmem.initialized() else 1)
        assert os.waitpid(child, 0)[1] == 0
        shmem.barrier_all()
    op()
    print("good")
    shmem.finalize()
    """
    assert good(by_oshrun(program, 2)).count("good") == 2
    assert good(by_uid(program, 2)).count("good") == 2


def test_subprocess() -> None:
    program = """
    import subprocess
    shmem.init()
    assert subprocess.run(["true"]).returncode == 0
    done = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True)
    print(done.stdout, end="")
    shmem.barrier_all()
    shmem.finalize()
    """
    assert good(by_oshrun(program, 2)) == "1\n1\n"


def test_multiprocessing_spawn(tmp_path: Any) -> None:
    """Workers that multiprocessing spawns become PEs by a unique id of their parent, no PE."""
    script = tmp_path / "spawned.py"
    script.write_text(textwrap.dedent("""
            import multiprocessing
            import warpshmem as shmem

            def work(rank, unique, results):
                shmem.init(rank, 2, unique)
                array = shmem.zeros(1, "int32")
                shmem.p(array, rank + 5, 1 - rank)
                shmem.barrier_all()
                results.put(int(array[0]))
                shmem.finalize()

            if __name__ == "__main__":
                spawn = multiprocessing.get_context("spawn")
                results, unique = spawn.Queue(), shmem.get_unique_id()
                some = [(rank, unique, results) for rank in range(2)]
                workers = [spawn.Process(target=work, args=one) for one in some]
                for worker in workers:
                    worker.start()
                print(sorted(results.get() for _ in workers))
                for worker in workers:
                    worker.join()
                    assert worker.exitcode == 0
            """))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[5, 6]\n"), done.stderr


def test_multiprocessing_fork() -> None:
    """A worker that multiprocessing forks from a PE: an exception that names the cure."""
    program = """
    import multiprocessing
    shmem.init()
    def work(results):
        try: shmem.my_pe()
        except shmem.WarpshmemError as error: results.put(str(error))
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    worker = fork.Process(target=work, args=(results,))
    worker.start()
    print(results.get())
    worker.join()
    shmem.finalize()
    """
    assert "start workers by multiprocessing's spawn" in good(Running(program, [[]], [{}]))


WAIT = """
shmem.init()
word = shmem.zeros(1, "int64")
print("ready", flush=True)
if shmem.my_pe() == 0:
    %s
else:
    time.sleep(60)
"""


@pytest.mark.parametrize(
    "call", ("shmem.barrier_all()", 'shmem.wait_until(word, "eq", 1)', "shmem.zeros(10)")
)
def test_ctrl_c_in_a_wait(call: str) -> None:
    with by_uid(WAIT % call, 2) as running:
        running.await_line("ready")
        time.sleep(0.3)
        running.processes[0].send_signal(signal.SIGINT)
        statuses, _, err = running.end(20)
    name = call.partition("(")[0].replace("shmem", "warpshmem")
    assert "PE 0: KeyboardInterrupt: SIGINT while it waits in %s (<string>:" % name in err
    assert statuses[0] == 130 and statuses[1] != 0


REQUEST = """
import signal
shmem.init()
me = shmem.my_pe()
class Late(Exception): pass
def late(*_): raise Late
if me == 0:
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    request = shmem.sync_nb()
    try:
        request.wait()
        print("no exception")
    except Late:
        print("an exception:", request.complete)
    request.wait()
    assert request.test()
else:
    time.sleep(1)
    shmem.sync_nb().wait()
shmem.finalize()
print("ended")
"""


def test_an_exception_while_a_request_is_waited_for() -> None:
    """Of a signal's handler, which runs as the wait returns: the request is over."""
    with by_uid(REQUEST, 2) as running:
        statuses, out, err = running.end(30)
    assert statuses == [0, 0], err
    assert "an exception: True" in out and out.count("ended") == 2


def test_ctrl_c_in_the_wait_of_a_request() -> None:
    with by_uid(WAIT % "shmem.sync_nb().wait()", 2) as running:
        running.await_line("ready")
        time.sleep(0.3)
        running.processes[0].send_signal(signal.SIGINT)
        statuses, _, err = running.end(20)
    assert "SIGINT while it waits in warpshmem.Request.wait (<string>:" in err, err
    assert statuses[0] == 130 and statuses[1] != 0


def test_ctrl_c_under_oshrun() -> None:
    with by_oshrun(WAIT % "shmem.barrier_all()", 2) as running:
        for line in iter(running.processes[0].stdout.readline, ""):
            if line.startswith("ready"):
                break
        time.sleep(0.5)
        running.processes[0].send_signal(signal.SIGINT)
        statuses, _, err = running.end(20)
    assert "KeyboardInterrupt" in err and statuses[0] != 0


def test_ctrl_c_before_the_job_has_begun() -> None:
    program = """
    print("ready", flush=True)
    shmem.init(0, 2, shmem.get_unique_id())
    """
    with Running(program, [[]], [{}]) as running:
        running.await_line("ready")
        time.sleep(0.5)
        running.processes[0].send_signal(signal.SIGINT)
        statuses, _, err = running.end(20)
    assert statuses == [130] and "KeyboardInterrupt: SIGINT while it waits in warpshmem.init" in err


def test_ctrl_c_outside_of_the_library() -> None:
    """An ordinary KeyboardInterrupt, which a program may catch; the job goes on."""
    program = """
    shmem.init()
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("caught")
    shmem.barrier_all()
    shmem.finalize()
    """
    with by_uid(program, 2) as running:
        running.await_line("ready")
        time.sleep(0.3)
        for process in running.processes:
            process.send_signal(signal.SIGINT)
        statuses, out, err = running.end(20)
    assert statuses == [0, 0] and out.count("caught") == 2, err


def test_an_exception_ends_the_job() -> None:
    """A PE that ends by an exception: the others do not wait for it for ever."""
    program = """
    shmem.init()
    if shmem.my_pe():
        raise RuntimeError("for a test")
    shmem.barrier_all()
    """
    with by_uid(program, 2) as running:
        statuses, _, err = running.end(30)
    assert all(statuses) and "RuntimeError: for a test" in err


def test_global_exit() -> None:
    program = """
    shmem.init()
    if shmem.my_pe():
        shmem.global_exit(7)
    shmem.barrier_all()
    """
    with by_uid(program, 2) as running:
        statuses, _, _ = running.end(30)
    assert statuses == [7, 7]


def test_info_by_its_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warpshmem.info"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "OpenSHMEM 1.6, warpshmem" in done.stdout


def test_the_first_program_of_the_guide(tmp_path: Any) -> None:
    guide = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/guide/python.md")
    with open(guide, encoding="utf-8") as page:
        program = page.read().partition("```python\n")[2].partition("```")[0]
    path = tmp_path / "letter.py"
    path.write_text(program)
    done = subprocess.run(
        [OSHRUN, "-n", "4", sys.executable, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    wanted = ["PE %d of 4 got %.1f" % (pe, (pe - 1) % 4) for pe in range(4)]
    assert sorted(done.stdout.splitlines()) == wanted and not done.stderr

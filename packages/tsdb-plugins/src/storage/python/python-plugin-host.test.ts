// Source: processing-engine, "Entry points", "The handle", "Worker internals", "Node side".
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, createLogger, SystemClock, SystemRandom } from '@plinth/kernel';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import {
  type PluginCall,
  PluginCallFailed,
  type PluginSession,
  type RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import { ColumnBlock } from './column-block.js';
import { PluginChecks } from './plugin-check.js';
import { programRunner } from './process/run-program.js';
import { PythonPluginHost } from './python-plugin-host.js';

const isPythonHere = spawnSync('python3', ['--version']).status === 0;
const skip = isPythonHere ? false : 'python3 is not installed';

const SCHEDULE_SEC = 1_700_000_000;

/** `come` resolves when `note` is called. */
function firstCall(): { readonly come: Promise<void>; readonly note: () => void } {
  let note = () => {};
  const come = new Promise<void>((resolve) => {
    note = resolve;
  });
  return { come, note: () => note() };
}

describe('PythonPluginHost', { skip }, () => {
  let folder: string;
  const output: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => output.push(line) } });
  const hosts: PythonPluginHost[] = [];
  before(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
  });

  function openHost(
    isolation: 'trigger' | 'shared' = 'trigger',
    clock: Clock = new SystemClock(),
  ): PythonPluginHost {
    const env = { PATH: process.env['PATH'] ?? '', TZ: 'UTC' };
    const host = new PythonPluginHost({
      checks: new PluginChecks('python3', programRunner(env, undefined)),
      settings: {
        python: 'python3',
        env,
        user: undefined,
        isolation,
        memoryLimitBytes: undefined,
        processLimit: 20,
      },
      clock,
      processCount: 8,
      random: new SystemRandom(new SystemClock()), // Marks of processes must differ between hosts.
      log,
    });
    hosts.push(host);
    return host;
  }

  let fileCount = 0;
  async function session(source: string, host = openHost(), name = 'p'): Promise<PluginSession> {
    const path = join(folder, `plugin_${fileCount++}.py`);
    await writeFile(path, source);
    return host.open({ label: name, code: { kind: 'file', path }, cacheNamespace: name });
  }

  interface Said {
    readonly lines: string[];
    readonly outcome: RunOutcome;
  }

  async function run(
    plugin: PluginSession,
    change: Partial<PluginCall> = {},
    onLine: () => void = () => {},
  ): Promise<Said> {
    const lines: string[] = [];
    const outcome = await plugin.call({
      database: 'db1',
      args: undefined,
      input: { kind: 'schedule', timeSec: SCHEDULE_SEC },
      isDryRun: false,
      cache: { namespace: 'p', defaultTtlSec: undefined },
      services: {
        log: (level, text) => {
          lines.push(`${level} ${text}`);
          onLine();
        },
        query: () => Promise.reject(new PluginCallFailed('QueryError', 'no queries here')),
        write: () => Promise.reject(new PluginCallFailed('Exception', 'no writes here')),
      },
      signal: new AbortController().signal,
      ...change,
    });
    return { lines, outcome };
  }

  const textsOf = (outcome: RunOutcome): unknown =>
    outcome.kind === 'done'
      ? outcome.writes.map(({ database, lines }) => [database, lines.map(String)])
      : outcome;

  it('calls the entry point of a schedule with a naive UTC time and the arguments', async () => {
    const plugin = await session(`
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info("at", call_time, call_time.tzinfo, args)
`);
    const { lines } = await run(plugin, { args: new Map([['a', '1']]) });
    assert.deepEqual(lines, ["INFO at 2023-11-14 22:13:20 None {'a': '1'}"]);
    assert.deepEqual((await run(plugin)).lines, ['INFO at 2023-11-14 22:13:20 None None']);
  });

  it('hands rows over with their exact values, leaving out what a line did not carry', async () => {
    const plugin = await session(`
def process_writes(influxdb3_local, table_batches, args=None):
    for batch in table_batches:
        for row in batch["rows"]:
            influxdb3_local.info(sorted(batch), batch["table_name"], repr(row))
`);
    const block = new ColumnBlock();
    const columns = [
      block.dictionary('host', Int32Array.of(0, 1, 0), { texts: ['A', 'ß'], present: undefined }),
      block.numbers('usage', Float64Array.of(1, -0.5, 0), Uint8Array.of(1, 1, 0)),
      block.numbers('i', BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n, 3n), undefined),
      block.numbers('u', BigUint64Array.of(2n ** 64n - 1n, 0n, 1n), undefined),
      block.booleans('ok', Uint8Array.of(1, 0, 1), undefined),
      block.texts('note', ['x', 'tab\t"', ''], Uint8Array.of(0, 1, 1)),
      block.numbers('time', BigInt64Array.of(100n, 200n, 1_700_000_000_000_000_001n), undefined),
    ];
    const { lines } = await run(plugin, {
      input: {
        kind: 'writes',
        batches: [{ table: 'cpu', rowCount: 3, columns }],
        parts: block.parts,
      },
    });
    const head = "INFO ['rows', 'table_name'] cpu";
    assert.deepEqual(lines, [
      `${head} {'host': 'A', 'usage': 1.0, 'i': -9223372036854775808, 'u': 18446744073709551615, 'ok': True, 'time': 100}`,
      `${head} {'host': 'ß', 'usage': -0.5, 'i': 9223372036854775807, 'u': 0, 'ok': False, 'note': 'tab\\t"', 'time': 200}`,
      `${head} {'host': 'A', 'i': 3, 'u': 1, 'ok': True, 'note': '', 'time': 1700000000000000001}`,
    ]);
  });

  it('answers questions of several threads of a run and raises their failures', async () => {
    const plugin = await session(`
import threading
def process_scheduled_call(influxdb3_local, call_time, args=None):
    found = []
    def ask(n):
        found.append(influxdb3_local.query("SELECT $n", {"n": str(n)}))
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    influxdb3_local.info(sorted(row["n"] for rows in found for row in rows), found[0][0]["none"])
    try:
        influxdb3_local.query("bad")
    except Exception as error:
        influxdb3_local.warn(type(error).__name__, type(error).__module__, error)
    for wrong in (5, {"n": 1}, "x"):
        try:
            influxdb3_local.query("SELECT 1", wrong)
        except TypeError as error:
            influxdb3_local.error("TypeError")
`);
    const { lines } = await run(plugin, {
      services: {
        log: (level, text) => heard.push(`${level} ${text}`),
        write: () => Promise.resolve(),
        query: async ({ database, sql, params }) => {
          assert.equal(database, 'db1');
          if (sql === 'bad') throw new PluginCallFailed('QueryError', 'error: it is bad');
          const block = new ColumnBlock();
          const columns = [
            block.numbers('n', BigInt64Array.of(BigInt(params.get('n') ?? -1)), undefined),
            block.numbers('none', Float64Array.of(0), Uint8Array.of(0)),
          ];
          return { rowCount: 1, columns, parts: block.parts };
        },
      },
    });
    assert.deepEqual(lines, []);
    assert.deepEqual(heard, [
      'INFO [0, 1, 2, 3, 4, 5, 6, 7] None',
      'WARN QueryError influxdb3_py_api error: it is bad',
      ...Array(3).fill('ERROR TypeError'),
    ]);
  });
  const heard: string[] = [];

  it('hands queued lines back when the run went well, and none when it raised', async () => {
    const plugin = await session(`
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.write(LineBuilder("a").int64_field("n", 1))
    influxdb3_local.write_to_db("other", LineBuilder("b").float64_field("x", 2).time_ns(5))
    influxdb3_local.write(LineBuilder("a").int64_field("n", 2))
    if args:
        raise ValueError("boom")
`);
    const { outcome } = await run(plugin);
    assert.deepEqual(textsOf(outcome), [
      ['db1', ['a n=1i', 'a n=2i']],
      ['other', ['b x=2.0 5']],
    ]);
    const { outcome: failed } = await run(plugin, { args: new Map([['x', 'y']]) });
    assert.ok(failed.kind === 'failed');
    assert.equal(failed.text, 'ValueError: boom');
    assert.match(failed.traceback, /File "<string>", line 7, in process_scheduled_call/);
  });

  it('writes at once when asked to, except in a dry run', async () => {
    const plugin = await session(`
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.write(LineBuilder("queued").int64_field("n", 1))
    influxdb3_local.write_sync(LineBuilder("now").int64_field("n", 1), no_sync=True)
    influxdb3_local.write_sync_to_db("d2", LineBuilder("now").int64_field("n", 2), False)
`);
    const written: string[] = [];
    const services = {
      log: () => undefined,
      query: () => Promise.reject(new Error('not asked')),
      write: async (options: { database: string; lines: Uint8Array; noSync: boolean }) => {
        written.push(`${options.database} ${options.noSync} ${Buffer.from(options.lines)}`);
      },
    };
    const { outcome } = await run(plugin, { services });
    assert.deepEqual(written, ['db1 true now n=1i', 'd2 false now n=2i']);
    assert.deepEqual(textsOf(outcome), [['db1', ['queued n=1i']]]);
    const dry = await run(plugin, { services, isDryRun: true });
    assert.equal(written.length, 2);
    assert.deepEqual(textsOf(dry.outcome), [
      ['db1', ['now n=1i', 'queued n=1i']],
      ['d2', ['now n=2i']],
    ]);
  });

  it('keeps live objects in the cache of a trigger, and fresh globals in every run', async () => {
    const source = `
count = 0
def process_scheduled_call(influxdb3_local, call_time, args=None):
    global count
    count += 1
    cache = influxdb3_local.cache
    lock = cache.get("lock")
    if lock is None:
        import threading
        lock = threading.Lock()
        cache.put("lock", lock)
        cache.put("id", id(lock))
        cache.put("gone", 1, ttl=0)
        cache.put("all", {"n": 1}, use_global=True)
    influxdb3_local.info(count, id(lock) == cache.get("id"), cache.get("gone", "none"), cache.delete("gone"),
        cache.get("all", use_global=True))
`;
    const host = openHost();
    const plugin = await session(source, host);
    for (const _ of [1, 2]) {
      const { lines } = await run(plugin);
      assert.deepEqual(lines, ["INFO 1 True none False {'n': 1}"]);
    }
    const other = await session(
      `
def process_scheduled_call(influxdb3_local, call_time, args=None):
    cache = influxdb3_local.cache
    influxdb3_local.info(cache.get("lock"), cache.get("all", use_global=True), cache.delete("all", True))
    for wrong in (-1, float("nan"), float("inf")):
        try:
            cache.put("k", 1, wrong)
        except ValueError:
            influxdb3_local.info("ValueError")
`,
      host,
      'q',
    );
    const { lines } = await run(other, { cache: { namespace: 'q', defaultTtlSec: undefined } });
    assert.deepEqual(lines, ["INFO None {'n': 1} True", ...Array(3).fill('INFO ValueError')]);
  });

  it('has exactly the documented names', async () => {
    const plugin = await session(`
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info([name for name in dir(influxdb3_local) if not name.startswith("__")])
    try:
        __file__
    except NameError:
        influxdb3_local.info(__name__)
    import sys
    influxdb3_local.info([path for path in sys.path if path.endswith("tsdb-plugins/python")])
`);
    assert.deepEqual((await run(plugin)).lines, [
      "INFO ['cache', 'error', 'info', 'query', 'warn', 'write', 'write_sync', 'write_sync_to_db', 'write_to_db']",
      'INFO builtins',
      'INFO []',
    ]);
  });

  it('reports what is wrong with a plugin in the documented words', async () => {
    const failure = async (source: string): Promise<string> => {
      const { outcome } = await run(await session(source));
      return outcome.kind === 'failed' ? outcome.text : outcome.kind;
    };
    const entry = 'process_scheduled_call';
    assert.equal(
      await failure('x = 1\n  y = 2\n'),
      'IndentationError: unexpected indent (<string>, line 2)',
    );
    assert.equal(
      await failure('x = 1\n'),
      `the ${entry} function is not present in the plugin. Should be defined as: ${entry}(influxdb3_local, call_time, args=None)`,
    );
    assert.equal(
      await failure(`def ${entry}(a, b): pass`),
      `TypeError: ${entry}() takes 2 positional arguments but 3 were given`,
    );
    assert.equal(
      await failure(`def ${entry}(a, b=None): pass`),
      `TypeError: ${entry}() takes from 1 to 2 positional arguments but 3 were given`,
    );
    assert.equal(
      await failure(`def ${entry}(a, b, c):\n    import sys\n    sys.exit(3)`),
      'SystemExit: 3',
    );
    assert.equal(
      await failure(`def ${entry}(a, b, c):\n    a.write(LineBuilder("some_table"))`),
      'InvalidLineError: At least one field is required: some_table',
    );
    assert.equal(await failure('raise Exception("at import")'), 'Exception: at import');
  });

  it('ends loops of Python code and blocking calls, and the next run works', async () => {
    const plugin = await session(`
import time
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info("begins")
    while args and args["how"] == "loop":
        try:
            pass
        except Exception:
            pass
    if args and args["how"] == "sleep":
        time.sleep(1000)
    influxdb3_local.info("ends")
`);
    for (const how of ['loop', 'sleep']) {
      const stop = new AbortController();
      const call = { args: new Map([['how', how]]), signal: stop.signal };
      const first = firstCall();
      const cancelled = run(plugin, call, first.note);
      await first.come;
      await sleep(50); // It is in the loop, or blocks.
      stop.abort();
      assert.deepEqual((await cancelled).outcome, { kind: 'cancelled' }, how);
      assert.deepEqual((await run(plugin)).lines, ['INFO begins', 'INFO ends'], how);
    }
  });

  it('ends what takes every exception sooner when it closes than when a trigger does', {
    timeout: 60_000,
  }, async () => {
    const clock = new ManualClock();
    const host = openHost('trigger', clock);
    const plugin = await session(
      `
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info("begins")
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
`,
      host,
    );
    const first = firstCall();
    const running = run(plugin, {}, first.note);
    await first.come;
    await sleep(50); // It is in the loop.
    const closed = [plugin.close(), host.close()];
    await clock.advanceMs(1000);
    await Promise.all(closed);
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
  });

  it('survives the death of its process with the run in it', async () => {
    const plugin = await session(`
import os, ctypes
def process_scheduled_call(influxdb3_local, call_time, args=None):
    if args and args["how"] == "exit":
        os._exit(7)
    if args and args["how"] == "fault":
        ctypes.string_at(0)
    influxdb3_local.info("fine")
`);
    const die = async (how: string): Promise<RunOutcome> =>
      (await run(plugin, { args: new Map([['how', how]]) })).outcome;
    assert.deepEqual(await die('exit'), {
      kind: 'crashed',
      text: 'WorkerCrash: Python worker exited (code 7)',
    });
    assert.deepEqual((await run(plugin)).lines, ['INFO fine']);
    assert.deepEqual(await die('fault'), {
      kind: 'crashed',
      text: 'WorkerCrash: Python worker exited (signal SIGSEGV)',
    });
    assert.deepEqual((await run(plugin)).lines, ['INFO fine']);
    assert.ok(output.some((line) => line.includes('plugin cache lost')));
  });

  it('keeps what plugins print out of the protocol', async () => {
    const plugin = await session(`
import sys
def process_scheduled_call(influxdb3_local, call_time, args=None):
    print("to standard output")
    print("to standard error", file=sys.stderr)
    influxdb3_local.info("x" * 100000)
`);
    const { lines } = await run(plugin);
    assert.equal(lines[0]?.length, 'INFO '.length + 65_536);
    for (let wait = 0; wait < 100 && !output.some((l) => l.includes('standard error')); wait++) {
      await sleep(10);
    }
    assert.ok(output.some((line) => line.includes('to standard output')));
    assert.ok(output.some((line) => line.includes('to standard error')));
  });

  it('runs the folder of a plugin once imported, and imports it again when it was changed', async () => {
    const path = join(folder, 'many_files');
    await rm(path, { recursive: true, force: true });
    await writeFolder(path, {
      '__init__.py':
        'from .helper import name\ncount = 0\ndef process_scheduled_call(influxdb3_local, call_time, args=None):\n    global count\n    count += 1\n    influxdb3_local.info(name, count, LineBuilder("a").int64_field("n", 1).build())\n',
      'helper.py': 'name = "first"\n',
    });
    const host = openHost();
    const plugin = host.open({ label: 'dir', code: { kind: 'dir', path }, cacheNamespace: 'p' });
    assert.deepEqual((await run(plugin)).lines, ['INFO first 1 a n=1i']);
    assert.deepEqual((await run(plugin)).lines, ['INFO first 2 a n=1i']);
    await writeFile(join(path, 'helper.py'), 'name = "second one"\n');
    assert.deepEqual((await run(plugin)).lines, ['INFO second one 1 a n=1i']);
    await writeFile(join(path, 'helper.py'), 'import no_such_module\n');
    const { outcome } = await run(plugin);
    assert.equal(
      outcome.kind === 'failed' && outcome.text,
      "Failed to import plugin module 'many_files': ModuleNotFoundError: No module named 'no_such_module'\nHint: Check for syntax errors or missing dependencies in Python files.",
    );
  });

  it('runs many triggers in one process when they share it', async () => {
    const host = openHost('shared');
    const source = `
import os
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info(os.getpid())
`;
    const [a, b] = [await session(source, host, 'a'), await session(source, host, 'b')];
    assert.deepEqual((await run(a)).lines, (await run(b)).lines);
    await a.close();
    assert.equal((await run(b)).outcome.kind, 'done');
  });

  it('leaves no process behind, not even those that a plugin has started', async () => {
    const plugin = await session(`
import subprocess
def process_scheduled_call(influxdb3_local, call_time, args=None):
    for is_apart in (False, True):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=is_apart)
        influxdb3_local.info(child.pid)
`);
    const { lines } = await run(plugin);
    assert.equal(lines.length, 2);
    const pids = lines.map((line) => Number(line.slice('INFO '.length)));
    for (const pid of pids) assert.ok(await isAlive(pid));
    await plugin.close();
    for (const pid of pids) {
      for (let wait = 0; wait < 200 && (await isAlive(pid)); wait++) await sleep(10);
      assert.equal(await isAlive(pid), false);
    }
  });

  it('gives way to the server, beside which hundreds of busy plugins made a stop take 22 seconds', async () => {
    const plugin = await session(`
import os
def process_scheduled_call(influxdb3_local, call_time, args=None):
    influxdb3_local.info(os.getpriority(os.PRIO_PROCESS, 0))
`);
    // 19 is the last.
    assert.deepEqual((await run(plugin)).lines, [`INFO ${Math.min(19, getPriority() + 10)}`]);
  });

  it('does not grow with the number of runs', async () => {
    const plugin = await session(`
import os
def process_scheduled_call(influxdb3_local, call_time, args=None):
    with open("/proc/self/statm") as file:
        influxdb3_local.info(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
`);
    const residentBytes = async (): Promise<number> =>
      Number((await run(plugin)).lines[0]?.slice('INFO '.length));
    for (let i = 0; i < 100; i++) await residentBytes();
    const before = await residentBytes();
    for (let i = 0; i < 1000; i++) await residentBytes();
    const grownBytes = (await residentBytes()) - before;
    assert.ok(grownBytes < 5 * 1024 * 1024, `${grownBytes} bytes in 1,000 runs`);
  });
});

async function writeFolder(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  const { mkdir } = await import('node:fs/promises');
  await mkdir(path);
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
}

/** A process that has ended and waits for its parent is not alive. */
async function isAlive(pid: number): Promise<boolean> {
  const found = await readdir('/proc').then((names) => names.includes(String(pid)));
  if (!found) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !/\) [ZX]/.test(stat);
}

import type { Random } from '@plinth/kernel';
import { LINES_LEFT_OUT, LineAllowance } from '@plinth/tsdb-model/plugins/line-allowance.js';
import type {
  LogLevel,
  PluginCall,
  PluginCode,
  ReadyOptions,
  Refusal,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { PluginUser } from '../plugin-user.js';
import { CrashPauses } from './crash-pauses.js';
import type { MarkedProcesses } from './marked-processes.js';
import type { PoolMember, ProcessPool } from './process-pool.js';
import { type ProcessEnd, PythonProcess } from './python-process.js';
import { WorkerRuns, type WorkerRunsDeps } from './worker-runs.js';

const PROTOCOL = 1;
/** Interval for counting the processes of a worker that has started some. */
const COUNT_INTERVAL_MS = 500;

export interface WorkerSettings {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: PluginUser | undefined;
  readonly isolation: 'trigger' | 'shared';
  /** `undefined` sets no limit. */
  readonly memoryLimitBytes: number | undefined;
  /** Maximum number of processes per worker, including itself; `undefined` sets no limit. */
  readonly processLimit: number | undefined;
}

type OfRuns = Pick<WorkerRunsDeps, 'globals' | 'clock' | 'log' | 'label'>;

export interface WorkerDeps extends OfRuns {
  readonly settings: WorkerSettings;
  readonly marked: MarkedProcesses;
  readonly random: Random;
  readonly pool: ProcessPool;
}

type PluginNote = (level: LogLevel, text: string) => void;

/**
 * One process and its runs. The process starts with the first run and is replaced after a crash.
 * While idle, it can be ended for another worker. After repeated crashes, only requests run without
 * a pause. Source: processing-engine, "Processes", "Node side".
 */
export class WorkerProcess implements PoolMember {
  readonly #deps: WorkerDeps;
  readonly #loaded = new Map<string, PluginCode>();
  readonly #notes = new Map<string, PluginNote>();
  readonly #runs: WorkerRuns;
  #process: PythonProcess | undefined;
  /** Whether the process reported that it has started. */
  #hasStarted = false;
  /** Resolves when the pool grants a slot for the process. */
  #starting: Promise<void> | undefined;
  /** Number of calls that wait for the process. */
  #pendingCount = 0;
  /** The process that was killed because it started too many others. */
  #crowded: PythonProcess | undefined;
  readonly #closed = new AbortController();
  readonly #pauses: CrashPauses;
  readonly #allowance = new LineAllowance();
  /**
   * Waiting `close` calls. A call by the server can end before a call by a trigger, which has a
   * longer grace period.
   */
  readonly #onIdle = new Set<() => void>();

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#pauses = new CrashPauses(deps.clock, this.#closed.signal);
    this.#runs = new WorkerRuns({
      ...deps,
      process: () => this.#process,
      onIdle: () => {
        for (const notify of this.#onIdle) notify();
        deps.pool.idle(this);
      },
      closed: this.#closed.signal,
    });
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isIdle(): boolean {
    return this.#runs.count === 0 && this.#pendingCount === 0;
  }

  /** Ends the process and its caches. The next run starts another. */
  retire(): void {
    this.#log('info', {}, 'idle plugin process stopped to free a slot');
    this.#endProcess();
  }

  /** Makes a plugin callable as `name`. */
  load(name: string, code: PluginCode, note?: PluginNote): void {
    this.#loaded.set(name, code);
    if (note !== undefined) this.#notes.set(name, note);
    this.#sendLoad(name, code);
  }

  /** Removes a plugin and, if named, its cache. */
  drop(name: string, cacheNamespace: string | undefined): void {
    this.#loaded.delete(name);
    this.#notes.delete(name);
    this.#process?.send({ t: 'drop', trigger: name, ns: cacheNamespace ?? null });
  }

  packagesChanged(): void {
    this.#process?.send({ t: 'invalidate' });
  }

  /** Like `PluginSession.ready`; aborting `ended` also ends the wait. */
  async ready(
    name: string,
    { isAwaited, signal }: ReadyOptions,
    ended: AbortSignal,
  ): Promise<Refusal | undefined> {
    const signals = [signal, ended, this.#closed.signal];
    const isCancelled = (): boolean => signals.some(({ aborted }) => aborted);
    if (isAwaited) {
      while (this.#pauses.refusal === undefined && this.#process === undefined && !isCancelled()) {
        const waitMs = this.#pauses.requestWaitMs;
        if (waitMs === 0) return undefined;
        const wait = this.#deps.clock.sleep(waitMs, this.#closed.signal).catch(() => undefined);
        await orAborted(wait, signals);
      }
      const refusal = this.#process === undefined ? this.#pauses.refusal : undefined;
      return refusal && { kind: 'refused', ...refusal };
    }
    if (this.#pauses.current !== undefined) this.#notes.get(name)?.('WARN', this.#pauses.reason);
    while (this.#pauses.current !== undefined && !isCancelled()) {
      await orAborted(this.#pauses.current, signals);
    }
    return undefined;
  }

  /** @param ended aborting it cancels the run, like the call's own signal. */
  async call(name: string, call: PluginCall, ended: AbortSignal): Promise<RunOutcome> {
    const isCancelled = (): boolean =>
      call.signal.aborted || ended.aborted || this.#closed.signal.aborted;
    if (isCancelled()) return { kind: 'cancelled' };
    while (this.#process === undefined) {
      this.#pendingCount++;
      await orAborted(this.#started(), [call.signal, ended, this.#closed.signal]);
      this.#pendingCount--;
      if (!isCancelled()) continue;
      if (this.isIdle) this.#deps.pool.idle(this);
      return { kind: 'cancelled' };
    }
    this.#deps.pool.used(this);
    return await this.#runs.start(name, call, ended);
  }

  /** Cancels all runs. The process has ended when it resolves. */
  async close(graceMs: number): Promise<void> {
    this.#closed.abort();
    this.#runs.cancelAll();
    if (this.#runs.count > 0) {
      const idle = new Promise<void>((resolve) => this.#onIdle.add(resolve));
      // Cancel the timer, because it would keep the server process alive.
      const waited = new AbortController();
      const grace = this.#deps.clock.sleep(graceMs, waited.signal).catch(() => undefined);
      await Promise.race([idle, grace]);
      waited.abort();
    }
    this.#endProcess();
    this.#deps.pool.leave(this);
    this.#runs.settleAll({ kind: 'cancelled' });
  }

  #logOutput(line: string): void {
    const decision = this.#allowance.take(this.#deps.clock.monotonicMs(), line.length);
    if (decision === 'take') this.#log('info', { line }, 'plugin output');
    else if (decision === 'tell') this.#log('warn', {}, LINES_LEFT_OUT);
  }

  #log(level: 'info' | 'warn', facts: object, text: string): void {
    this.#deps.log[level]({ plugin: this.#deps.label, ...facts }, text);
  }

  /** Resolves when the process has started, or the worker was closed before it got a slot. */
  #started(): Promise<void> {
    this.#starting ??= this.#deps.pool.enter(this).then(() => {
      this.#starting = undefined;
      if (this.#closed.signal.aborted) this.#deps.pool.leave(this);
      else this.#start();
    });
    return this.#starting;
  }

  #endProcess(): void {
    const process = this.#process;
    this.#process = undefined;
    process?.send({ t: 'stop' });
    process?.kill();
  }

  #start(): void {
    const { python, env, user, isolation, memoryLimitBytes } = this.#deps.settings;
    const started = new PythonProcess({
      python,
      env,
      user,
      mark: this.#deps.random.uuidV4(),
      marked: this.#deps.marked,
      onFrame: (frame) => {
        if (frame.header.t === 'forks') void this.#watch(started);
        else if (frame.header.t !== 'ready') this.#runs.take(frame);
        else if (this.#process === started) {
          this.#hasStarted = true;
          this.#pauses.started();
        }
      },
      onOutput: (line) => this.#logOutput(line),
      onExit: (how) => this.#ended(started, how),
    });
    this.#process = started;
    this.#hasStarted = false;
    started.send({
      t: 'init',
      protocol: PROTOCOL,
      isolation,
      limits: memoryLimitBytes === undefined ? {} : { memory_bytes: memoryLimitBytes },
    });
    for (const [name, code] of this.#loaded) this.#sendLoad(name, code);
  }

  #sendLoad(trigger: string, code: PluginCode): void {
    if (code.kind === 'source') {
      this.#process?.send({ t: 'load', trigger, kind: 'source' }, [code.source]);
    } else {
      this.#process?.send({ t: 'load', trigger, kind: code.kind, path: code.path });
    }
  }

  #ended(ended: PythonProcess, how: ProcessEnd): void {
    if (this.#process !== ended) return;
    this.#process = undefined;
    const isStopRequested = this.#runs.isAnyCancelled;
    const isCrowded = this.#crowded === ended;
    const why = isCrowded
      ? `the plugin had more than ${this.#deps.settings.processLimit} processes`
      : endText(how);
    const text = `WorkerCrash: ${why}`;
    if (isCrowded && this.#runs.count === 0) {
      for (const note of this.#notes.values()) note('ERROR', text);
    }
    if (!this.#closed.signal.aborted) {
      this.#log('warn', { end: endText(how) }, 'plugin cache lost');
      const crash = { end: why, hadStarted: this.#hasStarted };
      const pauseMs = isStopRequested ? undefined : this.#pauses.addCrash(crash);
      if (pauseMs !== undefined)
        this.#log(
          'warn',
          { pauseMs },
          'plugin worker crashes repeatedly; runs without a waiting client are paused',
        );
    }
    this.#deps.pool.leave(this);
    this.#runs.settleAll({ kind: 'crashed', text });
  }

  /** Kills a process with too many child processes, because no other limit protects the server. */
  async #watch(watched: PythonProcess): Promise<void> {
    const limit = this.#deps.settings.processLimit;
    if (limit === undefined) return;
    while (this.#process === watched) {
      const count = await watched.countProcesses();
      if (count > limit && this.#process === watched) {
        this.#crowded = watched;
        this.#log('warn', { count, limit }, 'plugin started too many processes');
        watched.kill();
        return;
      }
      await this.#deps.clock.sleep(COUNT_INTERVAL_MS, this.#closed.signal).catch(() => undefined);
    }
  }
}

/** Resolves with the work, or when one of the signals is aborted. */
async function orAborted(work: Promise<void>, signals: readonly AbortSignal[]): Promise<void> {
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    for (const signal of signals)
      signal.addEventListener('abort', () => resolve(), { signal: over.signal });
  });
  await Promise.race([work, aborted]);
  over.abort();
}

function endText(how: ProcessEnd): string {
  if (how.kind === 'not_started') return `Python worker could not be started: ${how.error.message}`;
  return how.signal === null
    ? `Python worker exited (code ${how.code})`
    : `Python worker exited (signal ${how.signal})`;
}

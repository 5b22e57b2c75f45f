import type { Random } from '@plinth/kernel';
import { LINES_LEFT_OUT, LineAllowance } from '../../../model/plugins/line-allowance.js';
import type {
  LogLevel,
  PluginCall,
  PluginCode,
  ReadyOptions,
  Refusal,
  RunOutcome,
} from '../../../model/plugins/plugin-host.js';
import type { PluginUser } from '../plugin-user.js';
import { CrashPauses } from './crash-pauses.js';
import type { MarkedProcesses } from './marked-processes.js';
import type { PoolMember, ProcessPool } from './process-pool.js';
import { type ProcessEnd, PythonProcess } from './python-process.js';
import { WorkerRuns, type WorkerRunsDeps } from './worker-runs.js';

const PROTOCOL = 1;
/** Processes of a worker that has started some are counted so often. */
const COUNT_INTERVAL_MS = 500;

export interface WorkerSettings {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: PluginUser | undefined;
  readonly isolation: 'trigger' | 'shared';
  /** `undefined`: no limit. */
  readonly memoryLimitBytes: number | undefined;
  /** Processes of one worker at a time, itself among them; `undefined`: any number. */
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
 * One process and the runs in it. The process starts with the first run, makes room for others while it has none, is replaced
 * when it dies, and pauses when it dies again and again, except for requests. Source: processing-engine, "Processes", "Node side".
 */
export class WorkerProcess implements PoolMember {
  readonly #needs: WorkerDeps;
  readonly #loaded = new Map<string, PluginCode>();
  readonly #notes = new Map<string, PluginNote>();
  readonly #runs: WorkerRuns;
  #process: PythonProcess | undefined;
  /** The process has said so. */
  #hasStarted = false;
  /** It waits for its place among the processes. */
  #starting: Promise<void> | undefined;
  /** Calls that wait for the process. */
  #pendingCount = 0;
  /** A process that was ended for what it started. */
  #crowded: PythonProcess | undefined;
  readonly #closed = new AbortController();
  readonly #pauses: CrashPauses;
  readonly #allowance = new LineAllowance();
  /** Of closings under way: one of the server overtakes that of a trigger, which has more time. */
  readonly #onIdle = new Set<() => void>();

  constructor(needs: WorkerDeps) {
    this.#needs = needs;
    this.#pauses = new CrashPauses(needs.clock, this.#closed.signal);
    this.#runs = new WorkerRuns({
      ...needs,
      process: () => this.#process,
      onIdle: () => {
        for (const notify of this.#onIdle) notify();
        needs.pool.idle(this);
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

  /** Ends the process, and with it what its plugins remember; the next run starts another. */
  retire(): void {
    this.#log('info', {}, 'idle plugin process ended for another one');
    this.#endProcess();
  }

  /** Makes the plugin callable under `name`. */
  load(name: string, code: PluginCode, note?: PluginNote): void {
    this.#loaded.set(name, code);
    if (note !== undefined) this.#notes.set(name, note);
    this.#sendLoad(name, code);
  }

  /** Forgets a plugin, and the cache when one is named. */
  drop(name: string, cacheNamespace: string | undefined): void {
    this.#loaded.delete(name);
    this.#notes.delete(name);
    this.#process?.send({ t: 'drop', trigger: name, ns: cacheNamespace ?? null });
  }

  packagesChanged(): void {
    this.#process?.send({ t: 'invalidate' });
  }

  /** As `PluginSession.ready`; also the abortion of `ended` ends the wait. */
  async ready(
    name: string,
    { isAwaited, signal }: ReadyOptions,
    ended: AbortSignal,
  ): Promise<Refusal | undefined> {
    const signals = [signal, ended, this.#closed.signal];
    const isOver = (): boolean => signals.some(({ aborted }) => aborted);
    if (isAwaited) {
      while (this.#pauses.refusal === undefined && this.#process === undefined && !isOver()) {
        const waitMs = this.#pauses.requestWaitMs;
        if (waitMs === 0) return undefined;
        const wait = this.#needs.clock.sleep(waitMs, this.#closed.signal).catch(() => undefined);
        await orAborted(wait, signals);
      }
      const refusal = this.#process === undefined ? this.#pauses.refusal : undefined;
      return refusal && { kind: 'refused', ...refusal };
    }
    if (this.#pauses.current !== undefined) this.#notes.get(name)?.('WARN', this.#pauses.reason);
    while (this.#pauses.current !== undefined && !isOver()) {
      await orAborted(this.#pauses.current, signals);
    }
    return undefined;
  }

  /** @param ended its abortion cancels the run as that of the call's own signal does. */
  async call(name: string, call: PluginCall, ended: AbortSignal): Promise<RunOutcome> {
    const isOver = (): boolean =>
      call.signal.aborted || ended.aborted || this.#closed.signal.aborted;
    if (isOver()) return { kind: 'cancelled' };
    while (this.#process === undefined) {
      this.#pendingCount++;
      await orAborted(this.#started(), [call.signal, ended, this.#closed.signal]);
      this.#pendingCount--;
      if (!isOver()) continue;
      if (this.isIdle) this.#needs.pool.idle(this);
      return { kind: 'cancelled' };
    }
    this.#needs.pool.used(this);
    return await this.#runs.start(name, call, ended);
  }

  /** Cancels all runs; the process is gone when it resolves. */
  async close(graceMs: number): Promise<void> {
    this.#closed.abort();
    this.#runs.cancelAll();
    if (this.#runs.count > 0) {
      const idle = new Promise<void>((resolve) => this.#onIdle.add(resolve));
      // Ended with the wait: a timer that is left keeps the process of the server up.
      const waited = new AbortController();
      const grace = this.#needs.clock.sleep(graceMs, waited.signal).catch(() => undefined);
      await Promise.race([idle, grace]);
      waited.abort();
    }
    this.#endProcess();
    this.#needs.pool.leave(this);
    this.#runs.settleAll({ kind: 'cancelled' });
  }

  #logOutput(line: string): void {
    const decision = this.#allowance.take(this.#needs.clock.monotonicMs(), line.length);
    if (decision === 'take') this.#log('info', { line }, 'plugin output');
    else if (decision === 'tell') this.#log('warn', {}, LINES_LEFT_OUT);
  }

  #log(level: 'info' | 'warn', facts: object, text: string): void {
    this.#needs.log[level]({ plugin: this.#needs.label, ...facts }, text);
  }

  /** Resolves when there is a process, or the worker was closed before it had its turn. */
  #started(): Promise<void> {
    this.#starting ??= this.#needs.pool.enter(this).then(() => {
      this.#starting = undefined;
      if (this.#closed.signal.aborted) this.#needs.pool.leave(this);
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
    const { python, env, user, isolation, memoryLimitBytes } = this.#needs.settings;
    const started = new PythonProcess({
      python,
      env,
      user,
      mark: this.#needs.random.uuidV4(),
      marked: this.#needs.marked,
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
    const wasAsked = this.#runs.isAnyCancelled;
    const isCrowded = this.#crowded === ended;
    const why = isCrowded
      ? `the plugin had more than ${this.#needs.settings.processLimit} processes`
      : endText(how);
    const text = `WorkerCrash: ${why}`;
    if (isCrowded && this.#runs.count === 0) {
      for (const note of this.#notes.values()) note('ERROR', text);
    }
    if (!this.#closed.signal.aborted) {
      this.#log('warn', { end: endText(how) }, 'plugin cache lost');
      const crash = { end: why, hadStarted: this.#hasStarted };
      const pauseMs = wasAsked ? undefined : this.#pauses.addCrash(crash);
      if (pauseMs !== undefined)
        this.#log(
          'warn',
          { pauseMs },
          'plugin worker crashes again and again; what is no request waits',
        );
    }
    this.#needs.pool.leave(this);
    this.#runs.settleAll({ kind: 'crashed', text });
  }

  /** Ends a process that has started too many others: nothing else of the system keeps them apart from the server's. */
  async #watch(watched: PythonProcess): Promise<void> {
    const limit = this.#needs.settings.processLimit;
    if (limit === undefined) return;
    while (this.#process === watched) {
      const count = await watched.countProcesses();
      if (count > limit && this.#process === watched) {
        this.#crowded = watched;
        this.#log('warn', { count, limit }, 'plugin started too many processes');
        watched.kill();
        return;
      }
      await this.#needs.clock.sleep(COUNT_INTERVAL_MS, this.#closed.signal).catch(() => undefined);
    }
  }
}

/** Resolves with the work, or as soon as one of the signals is aborted. */
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

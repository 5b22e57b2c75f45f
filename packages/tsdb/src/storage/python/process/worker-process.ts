import type { Clock, Logger, Random } from '@plinth/kernel';
import { LINES_LEFT_OUT, LineAllowance } from '../../../model/plugins/line-allowance.js';
import {
  type LogLevel,
  type PluginCall,
  type PluginCode,
  PluginQuestionFailed,
  type RunOutcome,
} from '../../../model/plugins/plugin-host.js';
import type { GlobalCache } from '../global-cache.js';
import type { Frame, FrameHeader } from '../plugin-frames.js';
import { FrameInvalid } from '../plugin-frames.js';
import { answerQuestion } from '../plugin-questions.js';
import type { PluginUser } from '../plugin-user.js';
import { callFrame, outcomeOf } from '../run-frames.js';
import { CrashPauses } from './crash-pauses.js';
import type { MarkedProcesses } from './marked-processes.js';
import type { PoolMember, ProcessPool } from './process-pool.js';
import { type ProcessEnd, PythonProcess } from './python-process.js';

const PROTOCOL = 1;
/** Between the cancellation of a run and the end of its process. */
const CANCEL_GRACE_MS = 5000;
/** Processes of a worker that has started some are counted so often. */
const COUNT_INTERVAL_MS = 500;
/** One worker may have so many runs under way; more is a bug of the caller. */
const LONGEST_ID = 2 ** 50;

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

type PluginNote = (level: LogLevel, text: string) => void;

interface RunUnderWay {
  readonly call: PluginCall;
  readonly settle: (outcome: RunOutcome) => void;
  isCancelled: boolean;
}

/**
 * One process and the runs in it. The process starts with the first run, makes room for others while it has none, is replaced
 * when it dies, and pauses when it dies again and again. Source: processing-engine, "Processes", "Node side".
 */
export class WorkerProcess implements PoolMember {
  readonly #settings: WorkerSettings;
  readonly #globals: GlobalCache;
  readonly #clock: Clock;
  readonly #marked: MarkedProcesses;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #label: string;
  readonly #pool: ProcessPool;
  readonly #loaded = new Map<string, PluginCode>();
  readonly #notes = new Map<string, PluginNote>();
  readonly #runs = new Map<number, RunUnderWay>();
  #nextId = 1;
  #process: PythonProcess | undefined;
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

  constructor(options: {
    readonly settings: WorkerSettings;
    readonly globals: GlobalCache;
    readonly clock: Clock;
    readonly marked: MarkedProcesses;
    readonly random: Random;
    readonly log: Logger;
    /** For messages. */
    readonly label: string;
    readonly pool: ProcessPool;
  }) {
    this.#settings = options.settings;
    this.#globals = options.globals;
    this.#clock = options.clock;
    this.#marked = options.marked;
    this.#random = options.random;
    this.#log = options.log;
    this.#label = options.label;
    this.#pool = options.pool;
    this.#pauses = new CrashPauses(options.clock, this.#closed.signal);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isIdle(): boolean {
    return this.#runs.size === 0 && this.#pendingCount === 0;
  }

  /** Ends the process, and with it what its plugins remember; the next run starts another. */
  retire(): void {
    this.#log.info({ plugin: this.#label }, 'idle plugin process ended for another one');
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

  /** @param ended its abortion cancels the run as that of the call's own signal does. */
  async call(name: string, call: PluginCall, ended: AbortSignal): Promise<RunOutcome> {
    const isOver = (): boolean =>
      call.signal.aborted || ended.aborted || this.#closed.signal.aborted;
    if (isOver()) return { kind: 'cancelled' };
    if (this.#pauses.current !== undefined) {
      await this.#pauses.current;
      if (isOver()) return { kind: 'cancelled' };
    }
    while (this.#process === undefined) {
      this.#pendingCount++;
      await orAborted(this.#started(), [call.signal, ended, this.#closed.signal]);
      this.#pendingCount--;
      if (!isOver()) continue;
      if (this.isIdle) this.#pool.idle(this);
      return { kind: 'cancelled' };
    }
    this.#pool.used(this);
    const id = this.#nextId++ % LONGEST_ID;
    return await new Promise<RunOutcome>((resolve) => {
      const cancel = (): void => this.#cancel(id);
      const settle = (outcome: RunOutcome): void => {
        call.signal.removeEventListener('abort', cancel);
        ended.removeEventListener('abort', cancel);
        this.#runs.delete(id);
        resolve(outcome);
        if (this.#runs.size > 0) return;
        for (const tell of this.#onIdle) tell();
        this.#pool.idle(this);
      };
      this.#runs.set(id, { call, settle, isCancelled: false });
      call.signal.addEventListener('abort', cancel);
      ended.addEventListener('abort', cancel);
      try {
        this.#sendCall(id, name, call);
      } catch (error) {
        if (!(error instanceof FrameInvalid)) throw error;
        const text = `ValueError: ${error.message}`;
        settle({ kind: 'failed', text, traceback: '', isInside: false });
      }
    });
  }

  /** Cancels all runs; the process is gone when it resolves. */
  async close(graceMs: number): Promise<void> {
    this.#closed.abort();
    for (const id of this.#runs.keys()) this.#cancel(id);
    if (this.#runs.size > 0) {
      const idle = new Promise<void>((resolve) => this.#onIdle.add(resolve));
      // Ended with the wait: a timer that is left keeps the process of the server up.
      const waited = new AbortController();
      const grace = this.#clock.sleep(graceMs, waited.signal).catch(() => undefined);
      await Promise.race([idle, grace]);
      waited.abort();
    }
    this.#endProcess();
    this.#pool.leave(this);
    for (const run of [...this.#runs.values()]) run.settle({ kind: 'cancelled' });
  }

  #logOutput(line: string): void {
    const decision = this.#allowance.take(this.#clock.monotonicMs(), line.length);
    if (decision === 'take') this.#log.info({ plugin: this.#label, line }, 'plugin output');
    else if (decision === 'tell') this.#log.warn({ plugin: this.#label }, LINES_LEFT_OUT);
  }

  /** Resolves when there is a process, or the worker was closed before it had its turn. */
  #started(): Promise<void> {
    this.#starting ??= this.#pool.enter(this).then(() => {
      this.#starting = undefined;
      if (this.#closed.signal.aborted) this.#pool.leave(this);
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
    const { python, env, user, isolation, memoryLimitBytes } = this.#settings;
    const started = new PythonProcess({
      python,
      env,
      user,
      mark: this.#random.uuidV4(),
      marked: this.#marked,
      onFrame: (frame) => this.#take(frame, started),
      onOutput: (line) => this.#logOutput(line),
      onExit: (how) => this.#ended(started, how),
    });
    this.#process = started;
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

  #sendCall(id: number, trigger: string, call: PluginCall): void {
    const frame = callFrame(id, trigger, call);
    this.#process?.send(frame.header, frame.parts);
  }

  #take({ header, body }: Frame, from: PythonProcess): void {
    if (header.t === 'ready') return;
    if (header.t === 'forks') {
      void this.#watch(from);
      return;
    }
    const run = this.#runs.get(Number(header['id']));
    // What a run that is given up still says is of no interest.
    if (run === undefined) return;
    switch (header.t) {
      case 'log':
        run.call.services.log(levelOf(header['level']), String(header['text']));
        break;
      case 'cb':
        void this.#answer(run, header, Buffer.from(body));
        break;
      case 'done':
        run.settle(run.isCancelled ? { kind: 'cancelled' } : outcomeOf(header, body));
        break;
    }
  }

  async #answer(run: RunUnderWay, header: FrameHeader, body: Buffer): Promise<void> {
    const { id, cb } = header;
    const process = this.#process;
    try {
      const answer = await answerQuestion(
        { services: run.call.services, globals: this.#globals },
        header,
        body,
      );
      process?.send({ t: 'res', id, cb, ok: true, ...answer.header }, answer.parts);
    } catch (error) {
      const isExpected = error instanceof PluginQuestionFailed || error instanceof FrameInvalid;
      if (!isExpected) this.#log.error({ err: error, plugin: this.#label }, 'plugin call failed');
      const err = {
        kind: error instanceof PluginQuestionFailed ? error.exception : 'Exception',
        message: isExpected ? error.message : 'internal error',
      };
      process?.send({ t: 'res', id, cb, ok: false, err });
    }
  }

  #cancel(id: number): void {
    const run = this.#runs.get(id);
    if (run === undefined || run.isCancelled) return;
    run.isCancelled = true;
    const process = this.#process;
    process?.send({ t: 'cancel', id });
    void this.#clock.sleep(CANCEL_GRACE_MS, this.#closed.signal).then(
      () => {
        if (this.#runs.get(id) === run && this.#process === process) process?.kill();
      },
      () => undefined, // Closing ends the process in its own time.
    );
  }

  #ended(ended: PythonProcess, how: ProcessEnd): void {
    if (this.#process !== ended) return;
    this.#process = undefined;
    const wasAsked = [...this.#runs.values()].some((run) => run.isCancelled);
    const isCrowded = this.#crowded === ended;
    const why = isCrowded
      ? `the plugin had more than ${this.#settings.processLimit} processes`
      : endText(how);
    const text = `WorkerCrash: ${why}`;
    if (isCrowded && this.#runs.size === 0) {
      for (const note of this.#notes.values()) note('ERROR', text);
    }
    if (!this.#closed.signal.aborted) {
      this.#log.warn({ plugin: this.#label, end: endText(how) }, 'plugin cache lost');
      if (!wasAsked) this.#noteCrash();
    }
    this.#pool.leave(this);
    for (const run of [...this.#runs.values()]) {
      run.settle(run.isCancelled ? { kind: 'cancelled' } : { kind: 'crashed', text });
    }
  }

  #noteCrash(): void {
    const pauseMs = this.#pauses.addCrash();
    if (pauseMs === undefined) return;
    this.#log.warn({ plugin: this.#label, pauseMs }, 'plugin worker crashes again and again');
  }

  /** Ends a process that has started too many others: nothing else of the system keeps them apart from the server's. */
  async #watch(watched: PythonProcess): Promise<void> {
    const limit = this.#settings.processLimit;
    if (limit === undefined) return;
    while (this.#process === watched) {
      const count = await watched.countProcesses();
      if (count > limit && this.#process === watched) {
        this.#crowded = watched;
        this.#log.warn({ plugin: this.#label, count, limit }, 'plugin started too many processes');
        watched.kill();
        return;
      }
      await this.#clock.sleep(COUNT_INTERVAL_MS, this.#closed.signal).catch(() => undefined);
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

function levelOf(level: unknown): 'INFO' | 'WARN' | 'ERROR' {
  return level === 'WARN' || level === 'ERROR' ? level : 'INFO';
}

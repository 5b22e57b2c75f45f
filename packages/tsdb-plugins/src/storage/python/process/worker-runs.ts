import type { Clock, Logger } from '@plinth/kernel';
import {
  type PluginCall,
  PluginCallFailed,
  type RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { GlobalCache } from '../global-cache.js';
import { handlePluginCall } from '../plugin-calls.js';
import { type Frame, type FrameHeader, FrameInvalid } from '../plugin-frames.js';
import { callFrame, outcomeOf } from '../run-frames.js';
import type { PythonProcess } from './python-process.js';

/** Time between the cancellation of a run and the end of its process. */
const CANCEL_GRACE_MS = 5000;
/**
 * Maximum id, after which ids are reused. It far exceeds the number of concurrent runs of a worker.
 */
const LONGEST_ID = 2 ** 50;

interface RunUnderWay {
  readonly call: PluginCall;
  readonly settle: (outcome: RunOutcome) => void;
  isCancelled: boolean;
}

export interface WorkerRunsDeps {
  readonly globals: GlobalCache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Name used in messages. */
  readonly label: string;
  /** Returns the current process. */
  readonly process: () => PythonProcess | undefined;
  /** Called when the last run has ended. */
  readonly onIdle: () => void;
  /** When aborted, the process is ended by the worker. */
  readonly closed: AbortSignal;
}

/** The runs in a process: their log lines, their calls to the server, and their outcomes. */
export class WorkerRuns {
  readonly #deps: WorkerRunsDeps;
  readonly #runs = new Map<number, RunUnderWay>();
  #nextId = 1;

  constructor(deps: WorkerRunsDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#runs.size;
  }

  get isAnyCancelled(): boolean {
    return [...this.#runs.values()].some((run) => run.isCancelled);
  }

  start(name: string, call: PluginCall, ended: AbortSignal): Promise<RunOutcome> {
    const id = this.#nextId++ % LONGEST_ID;
    return new Promise<RunOutcome>((resolve) => {
      const cancel = (): void => this.#cancel(id);
      const settle = (outcome: RunOutcome): void => {
        call.signal.removeEventListener('abort', cancel);
        ended.removeEventListener('abort', cancel);
        this.#runs.delete(id);
        resolve(outcome);
        if (this.#runs.size === 0) this.#deps.onIdle();
      };
      this.#runs.set(id, { call, settle, isCancelled: false });
      call.signal.addEventListener('abort', cancel);
      ended.addEventListener('abort', cancel);
      try {
        const { header, parts } = callFrame(id, name, call);
        this.#deps.process()?.send(header, parts);
      } catch (error) {
        if (!(error instanceof FrameInvalid)) throw error;
        const text = `ValueError: ${error.message}`;
        settle({ kind: 'failed', text, traceback: '', isInside: false });
      }
    });
  }

  cancelAll(): void {
    for (const id of this.#runs.keys()) this.#cancel(id);
  }

  /** Settles canceled runs as `cancelled`, and all others with `outcome`. */
  settleAll(outcome: RunOutcome): void {
    for (const run of [...this.#runs.values()])
      run.settle(run.isCancelled ? { kind: 'cancelled' } : outcome);
  }

  /** Handles a frame from the worker. */
  take({ header, body }: Frame): void {
    const run = this.#runs.get(Number(header['id']));
    // Frames of abandoned runs are ignored.
    if (run === undefined) return;
    switch (header.t) {
      case 'log':
        run.call.services.log(levelOf(header['level']), String(header['text']));
        break;
      case 'cb':
        void this.#respond(run, header, Buffer.from(body));
        break;
      case 'done':
        run.settle(run.isCancelled ? { kind: 'cancelled' } : outcomeOf(header, body));
        break;
    }
  }

  async #respond(run: RunUnderWay, header: FrameHeader, body: Buffer): Promise<void> {
    const { id, cb } = header;
    const { globals, log, label } = this.#deps;
    const process = this.#deps.process();
    try {
      const response = await handlePluginCall(
        { services: run.call.services, globals },
        header,
        body,
      );
      process?.send({ t: 'res', id, cb, ok: true, ...response.header }, response.parts);
    } catch (error) {
      const isExpected = error instanceof PluginCallFailed || error instanceof FrameInvalid;
      if (!isExpected) log.error({ err: error, plugin: label }, 'plugin call failed');
      const err = {
        kind: error instanceof PluginCallFailed ? error.exception : 'Exception',
        message: isExpected ? error.message : 'internal error',
      };
      process?.send({ t: 'res', id, cb, ok: false, err });
    }
  }

  #cancel(id: number): void {
    const run = this.#runs.get(id);
    if (run === undefined || run.isCancelled) return;
    run.isCancelled = true;
    const { clock, closed } = this.#deps;
    const process = this.#deps.process();
    process?.send({ t: 'cancel', id });
    void clock.sleep(CANCEL_GRACE_MS, closed).then(
      () => {
        if (this.#runs.get(id) === run && this.#deps.process() === process) process?.kill();
      },
      () => undefined, // The worker ends the process when it is closed.
    );
  }
}

function levelOf(level: unknown): 'INFO' | 'WARN' | 'ERROR' {
  return level === 'WARN' || level === 'ERROR' ? level : 'INFO';
}

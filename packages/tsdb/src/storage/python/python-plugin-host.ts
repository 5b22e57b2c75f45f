import type { Clock, Logger } from '@plinth/kernel';
import type {
  PluginCall,
  PluginCode,
  PluginHost,
  PluginSession,
  RunOutcome,
} from '../../model/plugin-host.js';
import { GlobalCache } from './global-cache.js';
import { WorkerProcess, type WorkerSettings } from './worker-process.js';

const CLOSE_GRACE_MS = 5000;
const SHUTDOWN_GRACE_MS = 1000;

/** Plugins in processes of the user's own CPython: one for each session, or one for all. */
export class PythonPluginHost implements PluginHost {
  readonly #settings: WorkerSettings;
  readonly #globals: GlobalCache;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #workers = new Set<WorkerProcess>();
  #shared: WorkerProcess | undefined;
  #sessionCount = 0;

  constructor(options: {
    readonly settings: WorkerSettings;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#settings = options.settings;
    this.#globals = new GlobalCache(options.clock);
    this.#clock = options.clock;
    this.#log = options.log;
  }

  open(options: {
    readonly label: string;
    readonly code: PluginCode;
    readonly cacheNamespace: string;
  }): PluginSession {
    const name = `${++this.#sessionCount}`;
    const isShared = this.#settings.isolation === 'shared';
    const worker = isShared ? this.#sharedWorker() : this.#newWorker(options.label);
    worker.load(name, options.code);
    const ended = new AbortController();
    const running = new Set<Promise<RunOutcome>>();
    return {
      call: async (call: PluginCall) => {
        const signal = AbortSignal.any([call.signal, ended.signal]);
        const run = worker.call(name, { ...call, signal });
        running.add(run);
        try {
          return await run;
        } finally {
          running.delete(run);
        }
      },
      close: async () => {
        ended.abort();
        if (isShared) {
          await Promise.all(running);
          worker.drop(name, options.cacheNamespace);
          return;
        }
        this.#workers.delete(worker);
        await worker.close(CLOSE_GRACE_MS);
      },
    };
  }

  packagesChanged(): void {
    for (const worker of this.#workers) worker.packagesChanged();
  }

  async close(): Promise<void> {
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.close(SHUTDOWN_GRACE_MS)));
  }

  #sharedWorker(): WorkerProcess {
    this.#shared ??= this.#newWorker('all triggers');
    return this.#shared;
  }

  #newWorker(label: string): WorkerProcess {
    const worker = new WorkerProcess({
      settings: this.#settings,
      globals: this.#globals,
      clock: this.#clock,
      log: this.#log,
      label,
    });
    this.#workers.add(worker);
    return worker;
  }
}

import type { Clock, Logger, Random } from '@plinth/kernel';
import type {
  PluginCall,
  PluginHost,
  PluginSession,
  RunOutcome,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { PluginType } from '@plinth/tsdb-model/plugins/trigger.js';
import { GlobalCache } from './global-cache.js';
import type { PluginChecks } from './plugin-check.js';
import { MarkedProcesses } from './process/marked-processes.js';
import { ProcessPool } from './process/process-pool.js';
import { WorkerProcess, type WorkerSettings } from './process/worker-process.js';

const CLOSE_GRACE_MS = 5000;
const SHUTDOWN_GRACE_MS = 1000;
/** Time after which a group without sessions ends. */
const GROUP_IDLE_MS = 30 * 60_000;
const ALL = 'all triggers';

/** Entry points of plugins. */
const FUNCTIONS: Readonly<Record<PluginType, string>> = {
  WalRows: 'process_writes',
  Schedule: 'process_scheduled_call',
  Request: 'process_request',
};

interface PythonPluginHostDeps {
  readonly settings: WorkerSettings;
  readonly checks: PluginChecks;
  /** Maximum number of processes of all sessions. */
  readonly processCount: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Runs plugins in processes of the installed CPython: one per active session, up to a limit, or one
 * for all.
 */
export class PythonPluginHost implements PluginHost {
  readonly #deps: PythonPluginHostDeps;
  readonly #globals: GlobalCache;
  readonly #marked: MarkedProcesses;
  readonly #pool: ProcessPool;
  readonly #workers = new Set<WorkerProcess>();
  readonly #groups = new Map<string, { readonly worker: WorkerProcess; sessionCount: number }>();
  readonly #closed = new AbortController();
  #sessionCount = 0;

  constructor(deps: PythonPluginHostDeps) {
    this.#deps = deps;
    this.#globals = new GlobalCache(deps.clock);
    this.#marked = new MarkedProcesses(deps.clock);
    this.#pool = new ProcessPool(deps.processCount, (limit) =>
      deps.log.warn(
        { limit },
        'all plugin processes are busy and runs are waiting; raise tsdb.plugin_processes to run more',
      ),
    );
  }

  faultOf: PluginHost['faultOf'] = (code, type) => this.#deps.checks.faultOf(code, FUNCTIONS[type]);

  open(options: Parameters<PluginHost['open']>[0]): PluginSession {
    const name = `${++this.#sessionCount}`;
    const group = options.group ?? (this.#deps.settings.isolation === 'shared' ? ALL : undefined);
    const worker = group === undefined ? this.#newWorker(options.label) : this.#workerOf(group);
    worker.load(name, options.code, options.note);
    const ended = new AbortController();
    const running = new Set<Promise<RunOutcome>>();
    return {
      ready: (ready) => worker.ready(name, ready, ended.signal),
      call: async (call: PluginCall) => {
        const run = worker.call(name, call, ended.signal);
        running.add(run);
        try {
          return await run;
        } finally {
          running.delete(run);
        }
      },
      close: async () => {
        ended.abort();
        if (group === undefined) {
          await worker.close(CLOSE_GRACE_MS);
          this.#workers.delete(worker);
          return;
        }
        await Promise.all(running);
        worker.drop(name, options.cacheNamespace);
        await this.#leave(group);
      },
    };
  }

  packagesChanged(): void {
    for (const worker of this.#workers) worker.packagesChanged();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.close(SHUTDOWN_GRACE_MS)));
  }

  #workerOf(group: string): WorkerProcess {
    let entry = this.#groups.get(group);
    if (entry === undefined) {
      entry = { worker: this.#newWorker(group), sessionCount: 0 };
      this.#groups.set(group, entry);
    }
    entry.sessionCount++;
    return entry.worker;
  }

  /** Leaves a group. Its process is kept for a while, because it contains the caches. */
  async #leave(group: string): Promise<void> {
    const entry = this.#groups.get(group);
    if (entry === undefined || --entry.sessionCount > 0) return;
    const emptySince = this.#sessionCount;
    void this.#deps.clock.sleep(GROUP_IDLE_MS, this.#closed.signal).then(
      async () => {
        if (entry.sessionCount > 0 || this.#sessionCount !== emptySince) return;
        this.#groups.delete(group);
        this.#workers.delete(entry.worker);
        await entry.worker.close(CLOSE_GRACE_MS);
      },
      () => undefined, // The host is closed.
    );
  }

  #newWorker(label: string): WorkerProcess {
    const worker = new WorkerProcess({
      settings: this.#deps.settings,
      globals: this.#globals,
      clock: this.#deps.clock,
      marked: this.#marked,
      random: this.#deps.random,
      log: this.#deps.log,
      label,
      pool: this.#pool,
    });
    this.#workers.add(worker);
    return worker;
  }
}

import type { Clock, Logger } from '@plinth/kernel';
import type { CommittedRows } from '@plinth/tsdb-engine/write/commit-listener.js';
import type {
  LogLevel,
  PluginCode,
  PluginHost,
  PluginResponse,
} from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { Trigger } from '@plinth/tsdb-model/plugins/trigger.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { TriggerStore } from '../../storage/plugins/trigger-store.js';
import type { PluginBackend } from '../plugins/plugin-backend.js';
import { FailureReports } from '../runs/failure-reports.js';
import { LazySession } from '../runs/lazy-session.js';
import { cacheNamespaceOf } from '../runs/plugin-runs.js';
import { type RequestInput, type RunnerSettings, TriggerRunner } from './trigger-runner.js';

export interface RunningTriggersDeps {
  readonly settings: RunnerSettings;
  readonly backend: PluginBackend;
  readonly store: Pick<TriggerStore, 'recordFailure'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Adds a line to a trigger's log. */
  readonly note: (trigger: Trigger, level: LogLevel, text: string) => void;
  /** Called from within a failed run whose trigger must be disabled. */
  readonly onDisable: (trigger: Trigger, database: DatabaseSchema) => void;
}

/** The runners of the enabled triggers, found by the event that fires them. */
export class RunningTriggers {
  readonly #deps: RunningTriggersDeps;
  readonly #runners = new Map<number, TriggerRunner>();
  /** Ids of running request triggers by path. The trigger that started last handles requests. */
  readonly #paths = new Map<string, number[]>();
  /** Databases with running write triggers. */
  readonly #watched = new Map<number, Set<TriggerRunner>>();

  constructor(deps: RunningTriggersDeps) {
    this.#deps = deps;
  }

  has(triggerId: number): boolean {
    return this.#runners.has(triggerId);
  }

  start(
    trigger: Trigger,
    options: {
      readonly database: DatabaseSchema;
      /** Called at the first run. */
      readonly findPlugin: () => Promise<{ readonly host: PluginHost; readonly code: PluginCode }>;
    },
  ): void {
    const { clock, log, settings, backend, store } = this.#deps;
    const { database, findPlugin } = options;
    const session = new LazySession(async () => {
      const { host, code } = await findPlugin();
      return host.open({
        label: `${database.name}.${trigger.name}`,
        code,
        cacheNamespace: cacheNamespaceOf(trigger),
        note: (level, text) => this.#deps.note(trigger, level, text),
      });
    });
    const runner = new TriggerRunner({
      trigger,
      databaseName: database.name,
      session,
      backend,
      clock,
      log,
      settings,
      note: (level, text) => this.#deps.note(trigger, level, text),
      failures: new FailureReports({
        clock,
        report: (error) =>
          store.recordFailure({ database: database.name, name: trigger.name }, error),
        onLost: (err) =>
          log.error({ err, trigger: trigger.name }, 'cannot record a failed trigger run'),
      }),
      onDisable: () => this.#deps.onDisable(trigger, database),
    });
    this.#announce(runner, trigger);
  }

  /** Registers a runner with its event source. Schedules fire on their own. */
  #announce(runner: TriggerRunner, trigger: Trigger): void {
    this.#runners.set(trigger.id, runner);
    switch (trigger.specification.kind) {
      case 'request': {
        const path = normalPath(trigger.specification.path);
        this.#paths.set(path, [...(this.#paths.get(path) ?? []), trigger.id]);
        break;
      }
      case 'all_tables':
      case 'table': {
        const runners = this.#watched.get(trigger.databaseId) ?? new Set();
        this.#watched.set(trigger.databaseId, runners.add(runner));
        break;
      }
    }
  }

  async stop(trigger: Trigger): Promise<void> {
    const runner = this.#runners.get(trigger.id);
    if (runner === undefined) return;
    this.#runners.delete(trigger.id);
    for (const [path, ids] of this.#paths) {
      const rest = ids.filter((id) => id !== trigger.id);
      if (rest.length === 0) this.#paths.delete(path);
      else this.#paths.set(path, rest);
    }
    for (const [databaseId, runners] of this.#watched) {
      if (runners.delete(runner) && runners.size === 0) this.#watched.delete(databaseId);
    }
    await runner.stop();
  }

  /** Makes a write trigger receive the rows of its table under the new name. */
  rename(triggerId: number, table: string): void {
    this.#runners.get(triggerId)?.rename(table);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
    this.#runners.clear();
    this.#watched.clear();
  }

  /** Returns whether a trigger needs the rows of the database. Called for every write. */
  wants(databaseId: number): boolean {
    return this.#watched.size > 0 && this.#watched.has(databaseId);
  }

  /** Delivers durable rows to the write triggers of the database. */
  committed(databaseId: number, rows: readonly CommittedRows[], depth: number): void {
    for (const runner of this.#watched.get(databaseId) ?? []) runner.committed(rows, depth);
  }

  /**
   * Runs the request trigger of a path.
   * @param disconnectSignal aborted when the client disconnects.
   * @returns `undefined` if the path has no trigger; `busy` if too many requests are waiting.
   */
  async request(
    path: string,
    input: RequestInput,
    disconnectSignal: AbortSignal,
  ): Promise<PluginResponse | 'busy' | undefined> {
    const id = this.#paths.get(normalPath(path))?.at(-1);
    const runner = id === undefined ? undefined : this.#runners.get(id);
    if (runner === undefined) return undefined;
    return (await runner.request(input, disconnectSignal)) ?? 'busy';
  }
}

/** Normalizes a path for the look-up: removes one leading slash and decodes valid escapes. */
export function normalPath(path: string): string {
  const bare = path.startsWith('/') ? path.slice(1) : path;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

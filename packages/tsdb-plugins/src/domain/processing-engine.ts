import { type Clock, type Logger, repeatJob } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { RenameFollower } from '@plinth/tsdb-catalog/schema/catalog-renames.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginCode, PluginHost } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { PluginType, Trigger } from '@plinth/tsdb-model/plugins/trigger.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { PluginFolder } from '../storage/plugins/plugin-folder.js';
import type { NamedTrigger, TriggerStore } from '../storage/plugins/trigger-store.js';
import { PluginBackend } from './plugins/plugin-backend.js';
import { type HostState, Plugins } from './plugins/plugins.js';
import { RunLog, type RunLogEntry } from './runs/run-log.js';
import { RunningTriggers } from './triggers/running-triggers.js';
import { TriggerList } from './triggers/trigger-list.js';
import { type NewTrigger, recordOf, triggerOf } from './triggers/trigger-record.js';
import type { RunnerSettings } from './triggers/trigger-runner.js';
import { typeOfText } from './triggers/trigger-specification.js';

export type { NewTrigger } from './triggers/trigger-record.js';

export interface ProcessingSettings extends RunnerSettings {
  /** Plugin types for which triggers may be created. */
  readonly allowedTypes: ReadonlySet<PluginType>;
  /** Base URL of plugins named `gh:…`; `undefined` selects the public collection. */
  readonly repository: string | undefined;
  /** If true, plugins can be neither fetched nor uploaded. */
  readonly isFolderLocked: boolean;
  /**
   * Whether plugins are checked when a trigger is created. InfluxDB checks them at their first run.
   */
  readonly isChecked: boolean;
}

export interface ProcessingDeps {
  readonly settings: ProcessingSettings;
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly store: TriggerStore;
  /** `undefined` if the processing engine is off. */
  readonly folder: PluginFolder | undefined;
  /** Looks for Python. Called again until Python is found. */
  readonly openHost: () => Promise<HostState>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Purges of databases send no notification, and failed store changes are retried, so triggers are
 * reconciled periodically.
 */
const RECONCILE_INTERVAL_MS = 1000;

/**
 * The triggers of the node: their records, and a runner for each enabled one. Records are durable;
 * caches, logs, queues and next run times are not. Source: processing-engine, "Lifecycle".
 */
export class ProcessingEngine {
  readonly runLog = new RunLog();
  readonly backend: PluginBackend;
  readonly plugins: Plugins;
  readonly running: RunningTriggers;
  readonly triggers: TriggerList;
  readonly #deps: ProcessingDeps;
  #changes: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Deleted databases whose triggers start again if the database is restored. */
  readonly #absent = new Set<number>();
  #reconciling: Disposable | undefined;

  constructor(deps: ProcessingDeps) {
    this.#deps = deps;
    this.triggers = new TriggerList(deps.catalog);
    this.backend = new PluginBackend({
      engine: deps.engine,
      nowNs: () => deps.clock.nowNs(),
    });
    this.plugins = new Plugins({ ...deps, ...deps.settings });
    this.running = new RunningTriggers({
      settings: deps.settings,
      backend: this.backend,
      store: deps.store,
      clock: deps.clock,
      log: deps.log,
      note: (trigger, level, text) => this.#note(trigger, level, text),
      onDisable: (trigger, database) => void this.#disableFailed(trigger, database),
    });
  }

  /**
   * Loads the records and starts the enabled triggers. Python and plugin code are loaded at the
   * first run.
   */
  async open(): Promise<void> {
    for (const record of await this.#deps.store.load()) {
      this.triggers.byId.set(record.id, triggerOf(record));
    }
    if (this.plugins.isOff) return;
    for (const trigger of this.triggers.byId.values())
      if (!trigger.isDisabled) this.#start(trigger);
    this.plugins.checkSoon();
    const { clock, log } = this.#deps;
    const job = { clock, log, name: 'triggers reconciled', intervalMs: RECONCILE_INTERVAL_MS };
    this.#reconciling = repeatJob(job, () => this.#reconcile());
  }

  /**
   * Throws errors of `PROCESSING_TEXTS`, `database_not_known`, `already_deleted`,
   * `resource_exists`.
   */
  async create(newTrigger: NewTrigger): Promise<void> {
    this.plugins.folder('trigger');
    this.#assertAllowed(newTrigger.specification);
    const host = await this.plugins.readyHost();
    const code = await this.plugins.codeOf(newTrigger.pluginFilename);
    await this.#check(newTrigger, host, code);
    await this.#alone(async () => {
      const database = this.triggers.database(newTrigger.database);
      const record = recordOf(newTrigger, database.id);
      const named = { database: database.name, name: newTrigger.name };
      if (!newTrigger.isDisabled) this.triggers.assertFreePath(triggerOf({ id: -1, ...record })); // a new trigger has no id yet
      const id = await this.#deps.store.insert(record, named);
      if (id === undefined) throw tsdbError('resource_exists', { resource: newTrigger.name });
      const trigger = triggerOf({ id, ...record });
      this.triggers.byId.set(id, trigger);
      if (!trigger.isDisabled) this.#start(trigger, code);
    });
  }

  /** Throws `trigger_not_found`, `trigger_is_running`. */
  async delete(
    target: { readonly database: string; readonly name: string },
    force: boolean,
  ): Promise<void> {
    await this.#alone(async () => {
      const trigger = this.triggers.named(target);
      if (!trigger.isDisabled && !force)
        throw tsdbError('trigger_is_running', { trigger: target.name });
      await this.#deps.store.delete([trigger.id], [target]);
      this.triggers.byId.delete(trigger.id);
      await this.running.stop(trigger);
    });
  }

  /** Enables a trigger. If it is already enabled but not running, it is started. */
  async enable(target: { readonly database: string; readonly name: string }): Promise<void> {
    this.plugins.folder('trigger');
    await this.plugins.readyHost();
    await this.#alone(async () => {
      this.triggers.assertFreePath(this.triggers.named(target));
      const trigger = await this.#setDisabled(this.triggers.named(target), false, target);
      if (!this.running.has(trigger.id)) this.#start(trigger);
    });
  }

  async disable(target: { readonly database: string; readonly name: string }): Promise<void> {
    await this.#alone(async () => {
      const trigger = await this.#setDisabled(this.triggers.named(target), true, target);
      await this.running.stop(trigger);
    });
  }

  /**
   * Call after a database was deleted or restored. Triggers of a deleted database receive no events
   * from this call on; their runs end later. Triggers of a restored database start.
   */
  databasesChanged(): void {
    if (this.#reconciling === undefined) return;
    const stopping: Promise<void>[] = [];
    for (const trigger of this.triggers.byId.values()) {
      const { databaseId } = trigger;
      if (this.#deps.catalog.databaseById(databaseId) !== undefined) continue;
      this.#absent.add(databaseId);
      stopping.push(this.running.stop(trigger));
    }
    const stopped = Promise.allSettled(stopping); // Stop immediately, so that a failing store cannot delay it.
    void this.#alone(() => stopped);
    this.#reconcile().catch(() => undefined); // The next periodic run encounters the same failure and reports it.
  }

  /** Write triggers of a table follow its new name. */
  get renameFollower(): RenameFollower {
    return {
      write: (tx, renamed) => this.#deps.store.renameTable(tx, renamed),
      applyCommitted: ({ databaseId, before, after }) => {
        for (const trigger of this.triggers.of(databaseId)) {
          const { specification } = trigger;
          if (specification.kind !== 'table' || specification.table !== before) continue;
          const renamed = { kind: 'table', table: after } as const;
          this.triggers.byId.set(trigger.id, { ...trigger, specification: renamed });
          this.running.rename(trigger.id, after);
        }
      },
    };
  }

  /** Starts the triggers of restored databases and deletes the records of purged ones. */
  async #reconcile(): Promise<void> {
    const { catalog, store } = this.#deps;
    if (this.triggers.byId.size === 0 || this.#isClosed) return;
    await this.#alone(async () => {
      const gone: Trigger[] = [];
      const back = new Set(this.#absent);
      for (const id of back) {
        if (catalog.databaseById(id) === undefined) back.delete(id);
        else this.#absent.delete(id);
      }
      for (const trigger of this.triggers.byId.values()) {
        const { id, databaseId, isDisabled } = trigger;
        if (back.has(databaseId) && !isDisabled && !this.running.has(id)) this.#start(trigger);
        const isKept = catalog.databaseById(databaseId) ?? catalog.deleted.databaseById(databaseId);
        if (isKept === undefined) gone.push(trigger);
      }
      if (gone.length === 0) return;
      const ids = gone.map(({ id }) => id);
      await store.delete(ids, []);
      for (const id of ids) this.triggers.byId.delete(id);
      for (const { databaseId } of gone) this.#absent.delete(databaseId);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reconciling?.[Symbol.dispose]();
    await this.#changes;
    // Stop both at the same time: a server shutdown gives a hanging plugin less time than a
    // trigger stop.
    await Promise.all([this.running.stopAll(), this.plugins.close()]);
  }

  /** Serializes changes of triggers. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(work);
    this.#changes = result.catch(() => undefined); // The caller receives the failure; the next change runs regardless.
    return result;
  }

  /** Checks the plugin type before the specification is parsed completely. */
  #assertAllowed(specification: string): void {
    const type = typeOfText(specification);
    if (type === undefined || this.#deps.settings.allowedTypes.has(type)) return;
    throw tsdbError('plugin_type_refused', { type });
  }

  /** Throws `plugin_invalid`. */
  async #check({ specification }: NewTrigger, host: PluginHost, code: PluginCode): Promise<void> {
    const type = this.#deps.settings.isChecked ? typeOfText(specification) : undefined;
    const fault = type && (await host.faultOf(code, type));
    if (fault !== undefined) throw tsdbError('plugin_invalid', fault);
  }

  async #setDisabled(trigger: Trigger, isDisabled: boolean, at: NamedTrigger): Promise<Trigger> {
    if (trigger.isDisabled === isDisabled) return trigger;
    await this.#deps.store.setDisabled(trigger.id, isDisabled, at);
    const changed = { ...trigger, isDisabled };
    this.triggers.byId.set(trigger.id, changed);
    return changed;
  }

  #start(trigger: Trigger, code?: PluginCode): void {
    if (this.#isClosed) return;
    const database = this.#deps.catalog.databaseById(trigger.databaseId);
    if (database === undefined) {
      this.#absent.add(trigger.databaseId);
      return;
    }
    this.running.start(trigger, {
      database,
      findPlugin: async () => ({
        host: await this.plugins.readyHost(),
        code: code ?? (await this.plugins.codeOf(trigger.pluginFilename)),
      }),
    });
  }

  /** Called from within a run, which ends before its runner stops. */
  async #disableFailed(trigger: Trigger, database: DatabaseSchema): Promise<void> {
    const at = { database: database.name, trigger: trigger.name };
    try {
      await this.#alone(async () => {
        const current = this.triggers.byId.get(trigger.id);
        if (current === undefined || current.isDisabled) return;
        await this.#setDisabled(current, true, { database: database.name, name: trigger.name });
        this.#note(trigger, 'WARN', 'trigger disabled after a failed run');
        this.#deps.log.warn(at, 'trigger disabled after a failed run');
        await this.running.stop(trigger);
      });
    } catch (err) {
      this.#deps.log.error({ err, ...at }, 'cannot disable the trigger');
    }
  }

  #note(trigger: Trigger, level: RunLogEntry['level'], text: string): void {
    const { clock, log } = this.#deps;
    const { databaseId, name } = trigger;
    this.runLog.add({ timeNs: clock.nowNs(), databaseId, triggerName: name, level, text });
    log.debug({ trigger: name, level, text }, 'plugin log');
  }
}

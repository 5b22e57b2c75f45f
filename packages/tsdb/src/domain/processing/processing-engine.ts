import type { Clock, Logger } from '@plinth/kernel';
import { AlreadyDeleted, DatabaseNotKnown, ResourceExists } from '../../errors.js';
import type { PluginCode, PluginHost, PluginResponse } from '../../model/plugin-host.js';
import type { DatabaseSchema } from '../../model/schema.js';
import type { ErrorBehavior, PluginType, Trigger } from '../../model/trigger.js';
import {
  InternalDatabaseUntriggered,
  NoPluginFolder,
  PluginFolderLocked,
  PluginOfTriggerNotFound,
  PluginTypeRefused,
  PythonUnavailable,
  TriggerIsRunning,
  TriggerNotFound,
} from '../../processing-errors.js';
import type { PluginFile, PluginFolder } from '../../storage/plugins/plugin-folder.js';
import type {
  NamedTrigger,
  TriggerRecord,
  TriggerStore,
} from '../../storage/plugins/trigger-store.js';
import type { Catalog } from '../catalog/catalog.js';
import { INTERNAL_DATABASE } from '../catalog/names.js';
import type { CommittedRows } from '../engine/commit-listener.js';
import type { Engine } from '../engine/engine.js';
import { FailureReports } from './failure-reports.js';
import { PluginBackend } from './plugin-backend.js';
import { fetchPlugin, repositoryPathOf } from './plugin-source.js';
import { RunLog, type RunLogEntry } from './run-log.js';
import { type RequestInput, type RunnerSettings, TriggerRunner } from './trigger-runner.js';
import { canonicalText, parseTriggerSpecification, typeOfText } from './trigger-specification.js';

export interface ProcessingSettings extends RunnerSettings {
  /** Types of plugins that triggers may be created for. */
  readonly allowedTypes: ReadonlySet<PluginType>;
  /** Base address of plugins named `gh:…`; `undefined` takes the public collection. */
  readonly repository: string | undefined;
  /** Neither fetched nor uploaded plugins. */
  readonly isFolderLocked: boolean;
}

/** How plugins can be run on this machine. */
export type HostState =
  | { readonly kind: 'ready'; readonly host: PluginHost }
  | { readonly kind: 'unavailable'; readonly why: string };

export interface ProcessingNeeds {
  readonly settings: ProcessingSettings;
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly store: TriggerStore;
  /** `undefined`: the engine is off. */
  readonly folder: PluginFolder | undefined;
  /** Looks for Python; called once, when it is first needed. */
  readonly openHost: () => Promise<HostState>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** As the client says it, checked for its form. */
export interface NewTrigger {
  readonly database: string;
  readonly name: string;
  readonly pluginFilename: string;
  readonly specification: string;
  readonly runAsync: boolean;
  readonly errorBehavior: ErrorBehavior;
  readonly arguments: ReadonlyMap<string, string> | undefined;
  readonly isDisabled: boolean;
}

/** Databases come and go without telling. */
const RECONCILE_INTERVAL_MS = 1000;

/**
 * Triggers of the node: their records, and a runner for each that is enabled. Records are durable; caches, logs, queues
 * and next times are not. Source: processing-engine, "Lifecycle".
 */
export class ProcessingEngine {
  readonly runLog = new RunLog();
  readonly #needs: ProcessingNeeds;
  readonly #backend: PluginBackend;
  readonly #triggers = new Map<number, Trigger>();
  readonly #runners = new Map<number, TriggerRunner>();
  /** Ids of running request triggers by path; the one that was started last answers. */
  readonly #paths = new Map<string, number[]>();
  /** Databases with running write triggers. */
  readonly #watched = new Map<number, Set<TriggerRunner>>();
  #host: Promise<HostState> | undefined;
  #changes: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Databases with triggers that were not active at the last look. */
  readonly #absent = new Set<number>();
  #reconciling: Disposable | undefined;

  constructor(needs: ProcessingNeeds) {
    this.#needs = needs;
    this.#backend = new PluginBackend({
      engine: needs.engine,
      nowNs: () => needs.clock.nowNs(),
    });
  }

  get backend(): PluginBackend {
    return this.#backend;
  }

  /** Reads the records and starts what is enabled; what cannot start is logged and stays. */
  async open(): Promise<void> {
    for (const record of await this.#needs.store.load()) {
      this.#triggers.set(record.id, triggerOf(record));
    }
    if (this.#needs.folder === undefined) return;
    await this.#alone(async () => {
      for (const trigger of this.#triggers.values()) {
        if (!trigger.isDisabled) await this.#startOrLog(trigger);
      }
    });
    this.#reconciling = this.#needs.clock.every(RECONCILE_INTERVAL_MS, () => this.reconcile());
  }

  /** Triggers by database and name; of one database, or of all that are active. */
  triggers(databaseId?: number): readonly Trigger[] {
    return [...this.#triggers.values()].filter((trigger) =>
      databaseId === undefined
        ? this.#needs.catalog.databaseById(trigger.databaseId) !== undefined
        : trigger.databaseId === databaseId,
    );
  }

  logOf(databaseId: number | undefined): readonly RunLogEntry[] {
    return this.runLog.entries(databaseId);
  }

  /** Files of a trigger's plugin; none for a fetched one. */
  filesOf(trigger: Trigger): readonly PluginFile[] {
    const { folder } = this.#needs;
    if (folder === undefined || repositoryPathOf(trigger.pluginFilename) !== undefined) return [];
    return folder.list(trigger.pluginFilename);
  }

  /** Throws a `ProcessingError`, `DatabaseNotKnown`, `AlreadyDeleted`, `ResourceExists`. */
  async create(wanted: NewTrigger): Promise<void> {
    this.#assertFolder('trigger');
    this.#assertAllowed(wanted.specification);
    await this.readyHost();
    const code = await this.#codeOf(wanted.pluginFilename);
    await this.#alone(async () => {
      const database = this.#database(wanted.database);
      const specification = parseTriggerSpecification(wanted.specification);
      const record: Omit<TriggerRecord, 'id'> = {
        database_id: database.id,
        name: wanted.name,
        plugin_filename: wanted.pluginFilename,
        specification: canonicalText(specification),
        run_async: wanted.runAsync ? 1 : 0,
        error_behavior: wanted.errorBehavior,
        arguments:
          wanted.arguments === undefined ? null : JSON.stringify([...wanted.arguments.entries()]),
        disabled: wanted.isDisabled ? 1 : 0,
      };
      const named = { database: database.name, name: wanted.name };
      const id = await this.#needs.store.insert(record, named);
      if (id === undefined) throw new ResourceExists({ resource: wanted.name });
      const trigger = triggerOf({ id, ...record });
      this.#triggers.set(id, trigger);
      if (!trigger.isDisabled) await this.#startOrLog(trigger, code);
    });
  }

  /** Throws `TriggerNotFound`, `TriggerIsRunning`. */
  async delete(
    at: { readonly database: string; readonly name: string },
    force: boolean,
  ): Promise<void> {
    await this.#alone(async () => {
      const trigger = this.#trigger(at);
      if (!trigger.isDisabled && !force) throw new TriggerIsRunning({ trigger: at.name });
      await this.#needs.store.delete([trigger.id], [at]);
      this.#triggers.delete(trigger.id);
      await this.#stop(trigger);
    });
  }

  /** Also when it is enabled already: then it is started if it does not run. */
  async enable(at: { readonly database: string; readonly name: string }): Promise<void> {
    this.#assertFolder('trigger');
    await this.readyHost();
    await this.#alone(async () => {
      const trigger = await this.#setDisabled(this.#trigger(at), false, at);
      if (!this.#runners.has(trigger.id)) await this.#startOrLog(trigger);
    });
  }

  async disable(at: { readonly database: string; readonly name: string }): Promise<void> {
    await this.#alone(async () => {
      const trigger = await this.#setDisabled(this.#trigger(at), true, at);
      await this.#stop(trigger);
    });
  }

  /**
   * Makes what runs agree with which databases there are: triggers of a deleted one stop, those of one that is back
   * start, and records go with the last trace of their database.
   */
  async reconcile(): Promise<void> {
    const { catalog, store } = this.#needs;
    if (this.#triggers.size === 0 || this.#isClosed) return;
    await this.#alone(async () => {
      const gone: number[] = [];
      for (const trigger of [...this.#triggers.values()]) {
        const { id, databaseId } = trigger;
        const isActive = catalog.databaseById(databaseId) !== undefined;
        if (!isActive) await this.#stop(trigger);
        else if (!trigger.isDisabled && !this.#runners.has(id) && this.#absent.has(databaseId)) {
          await this.#startOrLog(trigger);
        }
        if (!isActive && catalog.deleted.databaseById(databaseId) === undefined) gone.push(id);
      }
      this.#absent.clear();
      for (const { databaseId } of this.#triggers.values()) {
        if (catalog.databaseById(databaseId) === undefined) this.#absent.add(databaseId);
      }
      if (gone.length === 0) return;
      await store.delete(gone, []);
      for (const id of gone) this.#triggers.delete(id);
    });
  }

  /** False: nobody waits for rows of the database; asked for every write. */
  wants(databaseId: number): boolean {
    return this.#watched.size > 0 && this.#watched.has(databaseId);
  }

  /** Rows that are durable. */
  committed(databaseId: number, rows: readonly CommittedRows[], depth: number): void {
    for (const runner of this.#watched.get(databaseId) ?? []) runner.committed(rows, depth);
  }

  /**
   * Runs the request trigger of a path.
   * @returns `undefined`: there is none; `busy`: too many requests wait for it.
   */
  async request(path: string, input: RequestInput): Promise<PluginResponse | 'busy' | undefined> {
    const id = this.#paths.get(normalPath(path))?.at(-1);
    const runner = id === undefined ? undefined : this.#runners.get(id);
    if (runner === undefined) return undefined;
    return (await runner.request(input)) ?? 'busy';
  }

  /** Throws `PluginOfTriggerNotFound`: the first trigger of that name over all databases. */
  pluginFilenameOf(triggerName: string): string {
    const found = this.triggers().find(({ name }) => name === triggerName);
    if (found === undefined) throw new PluginOfTriggerNotFound({ trigger: triggerName });
    return found.pluginFilename;
  }

  /** Where files may be written. Throws `NoPluginFolder`, `PluginFolderLocked`. */
  writableFolder(): PluginFolder {
    const folder = this.#assertFolder('files');
    if (this.#needs.settings.isFolderLocked) throw new PluginFolderLocked();
    return folder;
  }

  /** Throws `PythonUnavailable`. */
  async readyHost(): Promise<PluginHost> {
    this.#host ??= this.#needs.openHost();
    const state = await this.#host;
    if (state.kind === 'unavailable') throw new PythonUnavailable(state.why);
    return state.host;
  }

  /** The code of a plugin that is not a trigger's: for dry runs. */
  async codeOf(pluginFilename: string): Promise<PluginCode> {
    this.#assertFolder('trigger');
    return await this.#codeOf(pluginFilename);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reconciling?.[Symbol.dispose]();
    await this.#changes;
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
    this.#runners.clear();
    this.#watched.clear();
    const state = await this.#host;
    if (state?.kind === 'ready') await state.host.close();
  }

  /** Changes of triggers come one after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(work);
    this.#changes = result.catch(() => undefined); // The caller sees the failure; the next in line must not.
    return result;
  }

  /** Whether the type may be used is asked before the text is read in full. */
  #assertAllowed(specification: string): void {
    const type = typeOfText(specification);
    if (type === undefined || this.#needs.settings.allowedTypes.has(type)) return;
    throw new PluginTypeRefused({ type });
  }

  #assertFolder(purpose: 'trigger' | 'files'): PluginFolder {
    const { folder } = this.#needs;
    if (folder === undefined) throw new NoPluginFolder({ for: purpose });
    return folder;
  }

  #database(name: string): DatabaseSchema {
    if (name === INTERNAL_DATABASE) throw new InternalDatabaseUntriggered();
    const { catalog } = this.#needs;
    const database = catalog.database(name);
    if (database !== undefined) return database;
    if (catalog.deleted.database(name) !== undefined) throw new AlreadyDeleted({ resource: name });
    throw new DatabaseNotKnown({ database: name });
  }

  #trigger(at: { readonly database: string; readonly name: string }): Trigger {
    const database = this.#database(at.database);
    const found = this.triggers(database.id).find(({ name }) => name === at.name);
    if (found === undefined) throw new TriggerNotFound({ trigger: at.name });
    return found;
  }

  async #setDisabled(trigger: Trigger, isDisabled: boolean, at: NamedTrigger): Promise<Trigger> {
    if (trigger.isDisabled === isDisabled) return trigger;
    await this.#needs.store.setDisabled(trigger.id, isDisabled, at);
    const changed = { ...trigger, isDisabled };
    this.#triggers.set(trigger.id, changed);
    return changed;
  }

  async #codeOf(pluginFilename: string): Promise<PluginCode> {
    const path = repositoryPathOf(pluginFilename);
    if (path === undefined) return await this.#assertFolder('trigger').find(pluginFilename);
    if (this.#needs.settings.isFolderLocked) throw new PluginFolderLocked();
    return await fetchPlugin(path, this.#needs.settings.repository);
  }

  async #startOrLog(trigger: Trigger, code?: PluginCode): Promise<void> {
    if (this.#isClosed) return;
    const database = this.#needs.catalog.databaseById(trigger.databaseId);
    if (database === undefined) return;
    try {
      const host = await this.readyHost();
      this.#start(trigger, {
        host,
        database,
        code: code ?? (await this.#codeOf(trigger.pluginFilename)),
      });
    } catch (err) {
      const { name } = trigger;
      this.#needs.log.error({ err, database: database.name, trigger: name }, 'trigger not started');
      this.#note(trigger, 'ERROR', err instanceof Error ? err.message : String(err));
    }
  }

  #start(
    trigger: Trigger,
    at: {
      readonly host: PluginHost;
      readonly database: DatabaseSchema;
      readonly code: PluginCode;
    },
  ): void {
    const { clock, log, settings } = this.#needs;
    const { host, database, code } = at;
    const session = host.open({
      label: `${database.name}.${trigger.name}`,
      code,
      cacheNamespace: `trigger ${trigger.id}`,
      note: (level, text) => this.#note(trigger, level, text),
    });
    const runner = new TriggerRunner({
      trigger,
      databaseName: database.name,
      session,
      backend: this.#backend,
      clock,
      log,
      settings,
      note: (level, text) => this.#note(trigger, level, text),
      failures: new FailureReports({
        clock,
        tell: (error) =>
          this.#needs.store.tellFailure({ database: database.name, name: trigger.name }, error),
        onLost: (err) => log.error({ err, trigger: trigger.name }, 'failed run not reported'),
      }),
      onDisable: () => void this.#disableFailed(trigger, database),
    });
    this.#runners.set(trigger.id, runner);
    switch (trigger.specification.kind) {
      case 'request': {
        const path = normalPath(trigger.specification.path);
        this.#paths.set(path, [...(this.#paths.get(path) ?? []), trigger.id]);
        break;
      }
      case 'all_tables':
      case 'table': {
        const runners = this.#watched.get(database.id) ?? new Set();
        this.#watched.set(database.id, runners.add(runner));
        break;
      }
    }
  }

  async #stop(trigger: Trigger): Promise<void> {
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

  /** Called from within a run: the runner ends after it. */
  async #disableFailed(trigger: Trigger, database: DatabaseSchema): Promise<void> {
    const at = { database: database.name, trigger: trigger.name };
    try {
      await this.#alone(async () => {
        const current = this.#triggers.get(trigger.id);
        if (current === undefined || current.isDisabled) return;
        await this.#setDisabled(current, true, { database: database.name, name: trigger.name });
        this.#note(trigger, 'WARN', 'trigger disabled after a failed run');
        this.#needs.log.warn(at, 'trigger disabled after a failed run');
        await this.#stop(trigger);
      });
    } catch (err) {
      this.#needs.log.error({ err, ...at }, 'trigger not disabled');
    }
  }

  #note(trigger: Trigger, level: RunLogEntry['level'], text: string): void {
    const { clock, log } = this.#needs;
    const { databaseId, name } = trigger;
    this.runLog.add({ timeNs: clock.nowNs(), databaseId, triggerName: name, level, text });
    log.debug({ trigger: name, level, text }, 'plugin log');
  }
}

/** One slash at the front is all the same; escapes are decoded where they can be. */
function normalPath(path: string): string {
  const bare = path.startsWith('/') ? path.slice(1) : path;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

function triggerOf(record: TriggerRecord): Trigger {
  return {
    id: record.id,
    databaseId: record.database_id,
    name: record.name,
    pluginFilename: record.plugin_filename,
    specification: parseTriggerSpecification(record.specification),
    runAsync: record.run_async === 1,
    errorBehavior: record.error_behavior,
    arguments:
      record.arguments === null
        ? undefined
        : new Map(JSON.parse(record.arguments) as [string, string][]), // written by `create`
    isDisabled: record.disabled === 1,
  };
}

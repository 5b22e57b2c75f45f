import { join, resolve } from 'node:path';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginType } from '@plinth/tsdb-model/plugins/trigger.js';
import { noEnvironment, Packages } from '@plinth/tsdb-plugins/domain/plugins/packages.js';
import type { HostState } from '@plinth/tsdb-plugins/domain/plugins/plugins.js';
import { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { checkDryLines } from '@plinth/tsdb-plugins/domain/runs/dry-lines.js';
import { DryRuns } from '@plinth/tsdb-plugins/domain/runs/dry-run.js';
import {
  type CopiedPlugins,
  copyPlugins,
} from '@plinth/tsdb-plugins/storage/plugins/copy-plugins.js';
import { PluginFolder } from '@plinth/tsdb-plugins/storage/plugins/plugin-folder.js';
import { findRequirements } from '@plinth/tsdb-plugins/storage/plugins/requirements-files.js';
import { TriggerStore } from '@plinth/tsdb-plugins/storage/plugins/trigger-store.js';
import type { FoundPython } from '@plinth/tsdb-plugins/storage/python/environment/python-environment.js';
import type { PluginUser } from '@plinth/tsdb-plugins/storage/python/plugin-user.js';
import type { TsdbDeps } from '../deps.js';
import type { TsdbSettings } from '../settings/config.js';

/** The processing engine and the operations that HTTP routes need. */
export interface Processing {
  readonly engine: ProcessingEngine;
  readonly dryRuns: DryRuns;
  readonly packages: Packages;
  /** Copies the plugin files to a folder; `undefined` if the server has none. */
  copyPlugins(folder: string): Promise<CopiedPlugins | undefined>;
}

const TYPE_OF_WORD: Readonly<Record<'wal' | 'wal_flush' | 'schedule' | 'request', PluginType>> = {
  wal: 'WalRows',
  wal_flush: 'WalRows',
  schedule: 'Schedule',
  request: 'Request',
};
const ALL_TYPES: readonly PluginType[] = ['WalRows', 'Schedule', 'Request'];

/** Delay before writes reach an idle trigger. */
const GATHER_MS = 10;
/** Maximum delay for writes to a busy trigger, like a flush interval of InfluxDB. */
const LONGEST_GATHER_MS = 1000;
/** With this many rows, a call starts without further delay. */
const MANY_ROWS = 5000;

/**
 * Connects triggers to the storage engine. Python is located on first use by a trigger, a test or
 * an installation.
 */
export function createProcessing(
  deps: TsdbDeps,
  parts: { readonly catalog: RelationalCatalog; readonly engine: Engine },
): Processing {
  const { settings, clock, log, random, fileSystem } = deps;
  const folder = settings.plugin_dir
    ? new PluginFolder({
        root: settings.plugin_dir,
        files: fileSystem,
        random,
        environment: environmentFolder(settings, settings.plugin_dir),
        isForOthers: settings.plugin_user !== undefined,
        onObstacle: (why) => log.warn({ why }, 'plugins cannot run'),
      })
    : undefined;
  const python = new PythonOnDemand(settings, deps, folder);
  const flushMs = settings.wal_flush_interval_ms;
  const engine = new ProcessingEngine({
    settings: {
      allowedTypes: new Set(
        settings.restrict_plugin_triggers_to?.map((word) => TYPE_OF_WORD[word]) ?? ALL_TYPES,
      ),
      repository: settings.plugin_repo,
      isFolderLocked: settings.plugin_dir_only,
      isChecked: settings.compat === 'documented',
      asyncLimit: settings.async_trigger_concurrency_limit,
      runTimeoutMs: settings.plugin_run_timeout_ms || undefined,
      gatherMs: flushMs ?? GATHER_MS,
      // With a configured interval, one call receives all writes of the interval.
      manyRows: flushMs === undefined ? MANY_ROWS : Number.POSITIVE_INFINITY,
      longestGatherMs: Math.max(flushMs ?? 0, LONGEST_GATHER_MS),
    },
    ...parts,
    store: new TriggerStore(deps.relational, deps.secrets, deps.report),
    folder,
    openHost: () => python.openHost(),
    clock,
    log,
  });
  return {
    engine,
    dryRuns: new DryRuns({
      processing: engine,
      catalog: parts.catalog,
      clock,
      checkLines: async (database, lines) =>
        checkDryLines(lines, {
          database,
          schema: parts.catalog.database(database),
          nowNs: clock.nowNs(),
        }),
    }),
    copyPlugins: async (to) =>
      folder && (await copyPlugins(folder.root, to, environmentFolder(settings, folder.root))),
    packages: new Packages({
      isDisabled: settings.disable_package_management || settings.package_manager === 'disabled',
      installer: () => python.installer(),
      findRequirements: async (location) => {
        if (folder === undefined) throw noEnvironment();
        return await findRequirements(folder, location);
      },
      onFailed: (end) => log.warn(end, 'package installation failed'),
      onInstalled: () =>
        void engine.plugins.readyHost().then(
          (host) => host.packagesChanged(),
          (err: unknown) =>
            log.warn({ err }, 'plugin workers could not be notified of new packages'),
        ),
    }),
  };
}

/** Returns the folder in which packages are installed. */
const environmentFolder = (settings: TsdbSettings, pluginFolder: string): string =>
  resolve(settings.virtual_env_location ?? join(pluginFolder, '.venv'));

/** Locates the interpreter once; also loads the modules that start processes. */
class PythonOnDemand {
  readonly #settings: TsdbSettings;
  readonly #deps: TsdbDeps;
  readonly #folder: PluginFolder | undefined;
  #found: Promise<FoundPrograms> | undefined;

  constructor(settings: TsdbSettings, deps: TsdbDeps, folder: PluginFolder | undefined) {
    this.#settings = settings;
    this.#deps = deps;
    this.#folder = folder;
  }

  async openHost(): Promise<HostState> {
    const settings = this.#settings;
    const folder = this.#folder;
    if (folder === undefined) return { kind: 'unavailable', why: 'no plugin directory configured' };
    if (process.platform === 'win32') {
      return { kind: 'unavailable', why: 'plugins are not supported on Windows' };
    }
    const found = await this.#find(folder);
    if (found.kind === 'unavailable') return found;
    const { environment, user } = found;
    const { clock, random, log } = this.#deps;
    const [{ PythonPluginHost }, { PluginChecks }, { programRunner }, variables] =
      await Promise.all([
        import('@plinth/tsdb-plugins/storage/python/python-plugin-host.js'),
        import('@plinth/tsdb-plugins/storage/python/plugin-check.js'),
        import('@plinth/tsdb-plugins/storage/python/process/run-program.js'),
        import('@plinth/tsdb-plugins/storage/python/environment/program-environment.js'),
      ]);
    const rules = { names: settings.plugin_env, user };
    const run = programRunner(variables.programEnvironment(process.env, rules), user);
    const host = new PythonPluginHost({
      settings: {
        python: environment.python,
        env: variables.pluginEnvironment(process.env, rules, {
          virtualEnv: environment.virtualEnv,
          pluginFolder: folder.root,
        }),
        user,
        isolation: settings.plugin_isolation,
        memoryLimitBytes: settings.plugin_memory_limit_bytes || undefined,
        processLimit: settings.plugin_process_limit || undefined,
      },
      checks: new PluginChecks(environment.python, run),
      processCount: settings.plugin_processes,
      clock,
      random,
      log,
    });
    return { kind: 'ready', host };
  }

  async installer(): Promise<Installer> {
    if (this.#folder === undefined) throw noEnvironment();
    const found = await this.#find(this.#folder);
    if (found.kind === 'unavailable') throw tsdbError('python_unavailable', found.why);
    const [{ installPackages }, { programRunner }, { installerEnvironment }] = await Promise.all([
      import('@plinth/tsdb-plugins/storage/python/environment/package-installer.js'),
      import('@plinth/tsdb-plugins/storage/python/process/run-program.js'),
      import('@plinth/tsdb-plugins/storage/python/environment/program-environment.js'),
    ]);
    const { environment, user } = found;
    const { plugin_env: names, package_manager } = this.#settings;
    const run = programRunner(installerEnvironment(process.env, { names, user }), user);
    const mayUseUv = package_manager !== 'pip';
    return (args) => installPackages(environment, args, { run, mayUseUv });
  }

  async #find(folder: PluginFolder): Promise<FoundPrograms> {
    const why = await folder.obstacle();
    if (why !== undefined) return { kind: 'unavailable', why };
    this.#found ??= this.#findPrograms(folder);
    return await this.#found;
  }

  async #findPrograms(folder: PluginFolder): Promise<FoundPrograms> {
    const found = await this.#open(folder);
    const { log } = this.#deps;
    if (found.kind === 'unavailable') log.warn({ why: found.why }, 'Python plugins are disabled');
    else {
      const { python, base, warnings } = found.environment;
      log.info({ python, version: base.version.join('.'), user: found.user?.name }, 'Python found');
      for (const warning of warnings) log.warn({ warning }, 'Python environment');
    }
    return found;
  }

  async #open(folder: PluginFolder): Promise<FoundPrograms> {
    const settings = this.#settings;
    const [{ openPythonEnvironment }, { findPluginUser }, { programRunner }, variables, worker] =
      await Promise.all([
        import('@plinth/tsdb-plugins/storage/python/environment/python-environment.js'),
        import('@plinth/tsdb-plugins/storage/python/plugin-user.js'),
        import('@plinth/tsdb-plugins/storage/python/process/run-program.js'),
        import('@plinth/tsdb-plugins/storage/python/environment/program-environment.js'),
        import('@plinth/tsdb-plugins/storage/python/process/python-process.js'),
      ]);
    const pluginUser = await findPluginUser(settings.plugin_user, process.getuid?.() ?? -1);
    if (pluginUser.kind === 'unavailable') return pluginUser;
    const { user } = pluginUser;
    const rules = { names: settings.plugin_env, user };
    const found = await openPythonEnvironment({
      python: settings.python,
      virtualEnv: environmentFolder(settings, folder.root),
      pluginFolder: folder.root,
      mayMakeEnvironment: !settings.disable_package_management,
      usesSystemPackages: settings.plugin_system_site_packages,
      run: programRunner(variables.programEnvironment(process.env, rules), user),
      user,
      neededPaths: [worker.START_FOLDER, folder.root],
      files: this.#deps.fileSystem,
    });
    return found.kind === 'unavailable' ? found : { ...found, user };
  }
}

/** The interpreter, and the user that it runs as. */
type FoundPrograms =
  | (Extract<FoundPython, { kind: 'found' }> & { readonly user: PluginUser | undefined })
  | Extract<FoundPython, { kind: 'unavailable' }>;

type Installer = Awaited<ReturnType<ConstructorParameters<typeof Packages>[0]['installer']>>;

import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginCode, PluginHost } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { PluginFile, PluginFolder } from '../../storage/plugins/plugin-folder.js';
import { fetchPlugin, repositoryPathOf } from './plugin-source.js';

/** Whether this machine can run plugins. */
export type HostState =
  | { readonly kind: 'ready'; readonly host: PluginHost }
  | { readonly kind: 'unavailable'; readonly why: string };

export interface PluginsDeps {
  /** `undefined` if the processing engine is off. */
  readonly folder: PluginFolder | undefined;
  /** Base URL of plugins named `gh:…`; `undefined` selects the public collection. */
  readonly repository: string | undefined;
  /** If true, plugins can be neither fetched nor uploaded. */
  readonly isFolderLocked: boolean;
  /** Looks for Python. Called again until Python is found. */
  readonly openHost: () => Promise<HostState>;
}

/** The sources of plugin code, and the host that runs it. */
export class Plugins {
  readonly #deps: PluginsDeps;
  #host: Promise<HostState> | undefined;

  constructor(deps: PluginsDeps) {
    this.#deps = deps;
  }

  get isOff(): boolean {
    return this.#deps.folder === undefined;
  }

  /** Throws `python_unavailable`. */
  async readyHost(): Promise<PluginHost> {
    this.#host ??= this.#deps.openHost();
    const opening = this.#host;
    const state = await opening;
    if (state.kind === 'ready') return state.host;
    if (this.#host === opening) this.#host = undefined;
    throw tsdbError('python_unavailable', state.why);
  }

  /** Checks the plugin folder in the background and logs a problem. */
  checkSoon(): void {
    void this.#deps.folder?.obstacle();
  }

  /** Throws `no_plugin_folder`. */
  folder(purpose: 'trigger' | 'files'): PluginFolder {
    const { folder } = this.#deps;
    if (folder === undefined) throw tsdbError('no_plugin_folder', { for: purpose });
    return folder;
  }

  /** Returns the folder for uploads. Throws `no_plugin_folder`, `plugin_folder_locked`. */
  writableFolder(): PluginFolder {
    const folder = this.folder('files');
    if (this.#deps.isFolderLocked) throw tsdbError('plugin_folder_locked');
    return folder;
  }

  /** Reads the code from the folder or fetches it. Throws `no_plugin_folder` in both cases. */
  async codeOf(pluginFilename: string): Promise<PluginCode> {
    const folder = this.folder('trigger');
    const path = repositoryPathOf(pluginFilename);
    if (path === undefined) return await folder.find(pluginFilename);
    if (this.#deps.isFolderLocked) throw tsdbError('plugin_folder_locked');
    return await fetchPlugin(path, this.#deps.repository);
  }

  /**
   * Reads the code of a plugin, or one file of its folder. Throws `no_plugin_folder`,
   * `plugin_file_missing`, `plugin_path_escapes`, `plugin_file_refused`, `plugin_fetch_failed`.
   */
  async readCode(
    name: string,
  ): Promise<{ readonly content: string; readonly files: readonly string[] }> {
    const folder = this.folder('files');
    if (repositoryPathOf(name) === undefined) return await folder.read(name);
    const code = await this.codeOf(name);
    const source = code.kind === 'source' ? code.source : new Uint8Array();
    return { content: Buffer.from(source).toString(), files: [] };
  }

  /**
   * Returns code that was sent for a dry run. It may run only where it could also be uploaded.
   * Throws `no_plugin_folder`, `plugin_folder_locked`.
   */
  codeOfText(text: string): PluginCode {
    this.writableFolder();
    return { kind: 'source', source: Buffer.from(text) };
  }

  /** Returns the files of a plugin; an empty list for a fetched plugin. */
  filesOf(pluginFilename: string): readonly PluginFile[] {
    const { folder } = this.#deps;
    if (folder === undefined || repositoryPathOf(pluginFilename) !== undefined) return [];
    return folder.list(pluginFilename);
  }

  async close(): Promise<void> {
    const state = await this.#host;
    if (state?.kind === 'ready') await state.host.close();
  }
}

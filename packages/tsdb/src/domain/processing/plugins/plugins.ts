import { tsdbError } from '../../../errors.js';
import type { PluginCode, PluginHost } from '../../../model/plugins/plugin-host.js';
import type { PluginFile, PluginFolder } from '../../../storage/plugins/plugin-folder.js';
import { fetchPlugin, repositoryPathOf } from './plugin-source.js';

/** How plugins can be run on this machine. */
export type HostState =
  | { readonly kind: 'ready'; readonly host: PluginHost }
  | { readonly kind: 'unavailable'; readonly why: string };

export interface PluginsDeps {
  /** `undefined`: the engine is off. */
  readonly folder: PluginFolder | undefined;
  /** Base address of plugins named `gh:…`; `undefined` takes the public collection. */
  readonly repository: string | undefined;
  /** Neither fetched nor uploaded plugins. */
  readonly isFolderLocked: boolean;
  /** Looks for Python; asked again for as long as there is none. */
  readonly openHost: () => Promise<HostState>;
}

/** Where the code of plugins comes from, and what runs it. */
export class Plugins {
  readonly #needs: PluginsDeps;
  #host: Promise<HostState> | undefined;

  constructor(needs: PluginsDeps) {
    this.#needs = needs;
  }

  get isOff(): boolean {
    return this.#needs.folder === undefined;
  }

  /** Throws `python_unavailable`. */
  async readyHost(): Promise<PluginHost> {
    this.#host ??= this.#needs.openHost();
    const opening = this.#host;
    const state = await opening;
    if (state.kind === 'ready') return state.host;
    if (this.#host === opening) this.#host = undefined;
    throw tsdbError('python_unavailable', state.why);
  }

  /** Tells the log, in its own time, of a folder that cannot be used. */
  checkSoon(): void {
    void this.#needs.folder?.obstacle();
  }

  /** Throws `no_plugin_folder`. */
  folder(purpose: 'trigger' | 'files'): PluginFolder {
    const { folder } = this.#needs;
    if (folder === undefined) throw tsdbError('no_plugin_folder', { for: purpose });
    return folder;
  }

  /** Where files may be written. Throws `no_plugin_folder`, `plugin_folder_locked`. */
  writableFolder(): PluginFolder {
    const folder = this.folder('files');
    if (this.#needs.isFolderLocked) throw tsdbError('plugin_folder_locked');
    return folder;
  }

  /** From the folder, or fetched. Throws `no_plugin_folder` for either. */
  async codeOf(pluginFilename: string): Promise<PluginCode> {
    const folder = this.folder('trigger');
    const path = repositoryPathOf(pluginFilename);
    if (path === undefined) return await folder.find(pluginFilename);
    if (this.#needs.isFolderLocked) throw tsdbError('plugin_folder_locked');
    return await fetchPlugin(path, this.#needs.repository);
  }

  /** Files of a plugin; none for a fetched one. */
  filesOf(pluginFilename: string): readonly PluginFile[] {
    const { folder } = this.#needs;
    if (folder === undefined || repositoryPathOf(pluginFilename) !== undefined) return [];
    return folder.list(pluginFilename);
  }

  async close(): Promise<void> {
    const state = await this.#host;
    if (state?.kind === 'ready') await state.host.close();
  }
}

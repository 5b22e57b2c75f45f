import module from 'node:module';
import { freshBundle } from './fresh-bundle.js';

/** The only command with a store. Its startup time is critical. */
const SERVER_COMMAND = 'serve';

// Keeps compiled code between starts (Node 22.1 and later). The type definitions belong to the oldest supported Node version.
const enableCompileCache: unknown = Reflect.get(module, 'enableCompileCache');
if (typeof enableCompileCache === 'function') enableCompileCache();

// With source maps, error positions should refer to the sources. Only the modules support that.
const { NODE_OPTIONS = '' } = process.env;
const wantsSourceMaps = [...process.execArgv, NODE_OPTIONS].join(' ').includes('source-maps');
const bundle = wantsSourceMaps ? undefined : freshBundle();
if (bundle !== undefined && process.argv[2] === SERVER_COMMAND) {
  const { startStoreThread } = await import('./store-thread.js');
  startStoreThread(bundle);
}
await import(bundle === undefined ? './program.js' : new URL('program.mjs', bundle).href);

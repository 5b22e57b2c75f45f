import module from 'node:module';
import { freshBundle } from './fresh-bundle.js';

/** The command whose start is waited for, and that has a store. */
const SERVER_COMMAND = 'serve';

// Keeps compiled code between starts; Node has it from 22.1 on. The typings are those of the oldest Node we run on.
const enableCompileCache: unknown = Reflect.get(module, 'enableCompileCache');
if (typeof enableCompileCache === 'function') enableCompileCache();

// Whoever asks for source maps wants places in the sources: those are known of the modules.
const { NODE_OPTIONS = '' } = process.env;
const wantsSourceMaps = [...process.execArgv, NODE_OPTIONS].join(' ').includes('source-maps');
const bundle = wantsSourceMaps ? undefined : freshBundle();
if (bundle !== undefined && process.argv[2] === SERVER_COMMAND) {
  const { startStoreThread } = await import('./store-thread.js');
  startStoreThread(bundle);
}
await import(bundle === undefined ? './program.js' : new URL('program.mjs', bundle).href);

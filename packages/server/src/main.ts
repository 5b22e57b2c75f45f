import module from 'node:module';
import type { CompiledProgram } from './compiled-program.js';
import { freshBundle } from './fresh-bundle.js';

/** The command whose start is waited for; the others need a small part of the program. */
const COMPILED_COMMAND = 'serve';

// Keeps compiled code between starts; Node has it from 22.1 on. The typings are those of the oldest Node we run on.
const enableCompileCache: unknown = Reflect.get(module, 'enableCompileCache');
if (typeof enableCompileCache === 'function') enableCompileCache();

// Whoever asks for source maps wants places in the sources: those are known of the modules.
const { NODE_OPTIONS = '' } = process.env;
const wantsSourceMaps = [...process.execArgv, NODE_OPTIONS].join(' ').includes('source-maps');
const bundle = wantsSourceMaps ? undefined : freshBundle();
const isServer = process.argv[2] === COMPILED_COMMAND;
const compiled = bundle && isServer ? await compiledServer(bundle) : undefined;
if (compiled !== undefined) compiled.run();
else await import(bundle === undefined ? './program.js' : new URL('program.mjs', bundle).href);

async function compiledServer(folder: URL): Promise<CompiledProgram | undefined> {
  const { startStoreThread } = await import('./store-thread.js');
  startStoreThread(folder);
  const { CompiledProgram } = await import('./compiled-program.js');
  return CompiledProgram.withCode(folder);
}

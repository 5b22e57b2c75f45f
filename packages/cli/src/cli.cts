#!/usr/bin/env node
// CommonJS: the thread pool size must be set before the first module is loaded.
/** Half of the threads are for queries, so that file access, syncs and DNS lookups always find a free one. */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
/** The server sets its own handlers later. Until then SIGHUP would stop it, and SIGUSR1 would open a debugger. */
if (process.argv[2] === 'serve' && process.platform !== 'win32')
  for (const signal of ['SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {});
void import('./main.js');

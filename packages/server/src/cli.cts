#!/usr/bin/env node
// CommonJS: modules are read by the threads whose number is set here, which nothing changes once there are any.
/** Half of them are for queries, so that files, their syncs and names of hosts find one whatever is asked. */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
/** A server has handlers of its own later. Until then SIGHUP would end it, and SIGUSR1 open a debugger. */
if (process.argv[2] === 'serve' && process.platform !== 'win32')
  for (const signal of ['SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {});
void import('./main.js');

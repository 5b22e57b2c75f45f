#!/usr/bin/env node
// CommonJS: modules are read by the threads whose number is set here, which nothing changes once there are any.
/** Half of them are for queries, so that files, their syncs and names of hosts find one whatever is asked. */
process.env['UV_THREADPOOL_SIZE'] ??= '32';
void import('./main.js');

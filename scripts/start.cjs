#!/usr/bin/env node
// npm start: `start.mjs` with the number of threads that the server wants (`packages/server/src/cli.cts`).
process.env.UV_THREADPOOL_SIZE ??= '32';
void import('./start.mjs');

#!/usr/bin/env node
// npm start: `start.mjs` with the thread count of the server (`packages/cli/src/cli.cts`).
process.env.UV_THREADPOOL_SIZE ??= '32';
void import('./start.mjs');

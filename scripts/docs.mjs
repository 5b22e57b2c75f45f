#!/usr/bin/env node
// npm run docs: makes docs/ a site in docs/site/dist, which the server hands out at /docs/. Its generator is installed on the
// first run, apart from the packages of the server, so that nobody else waits for it.
import { buildDocs } from './lib/docs-site.mjs';

try {
  await buildDocs();
} catch (error) {
  console.error(`plinth: ${error.message}`);
  process.exitCode = 1;
}

#!/usr/bin/env node
// npm run docs: builds docs/site/dist from docs/. The server serves it at /docs/. The first run installs the site generator,
// separately from the packages of the server, so that other commands do not need it.
import { buildDocs } from './lib/docs-site.mjs';

try {
  await buildDocs();
} catch (error) {
  console.error(`plinth: ${error.message}`);
  process.exitCode = 1;
}

#!/usr/bin/env node
// npm run check: all checks that must pass before a change is submitted.
import fs from 'node:fs';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { root } from './lib/root.mjs';
import { runNode } from './lib/run.mjs';

const script = (name) => path.join(root, 'scripts', name);
const words = process.argv.slice(2);
const steps = [
  ['lint', [path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '.']],
  ['layers', [script('layers.mjs')]],
  ['sizes', [script('sizes.mjs')]],
  ['sources', [script('sources.mjs')]],
  ['words', [script('words.mjs')]],
  ['changelog', [script('changelog.mjs')]],
  ['lock file', [script('lockfile.mjs')]],
  ['lock file of docs', [script('lockfile.mjs'), path.join(root, 'docs/site/package-lock.json')]],
  ['settings page', [script('settings.mjs'), '--check']],
  ['metrics page', [script('metrics.mjs'), '--check']],
  ['commands page', [script('commands.mjs'), '--check']],
  ['API description', [script('openapi.mjs'), '--check']],
  ['tests', [script('test.mjs'), '--again', ...words]],
  // The words select test files from all tiers.
  ...(words.length > 0
    ? []
    : [['further tests', [script('test.mjs'), '--rest', '--durations', '--again']]]),
];

await ensureBuiltOrExit(); // compiling is the type check
for (const [name, args] of steps) {
  if (!args.every((arg) => !arg.endsWith('.mjs') || fs.existsSync(arg))) {
    console.error(`plinth: check "${name}" has no script ${args[0]}`);
    process.exit(1);
  }
  console.error(`plinth: check ${name}`);
  const code = await runNode(args);
  if (code === 0) continue;
  console.error(`plinth: check "${name}" failed`);
  if (name !== 'tests') process.exit(code);
  process.exitCode = code; // The remaining tests still run.
}
if (process.exitCode === undefined) console.error('plinth: all checks passed');

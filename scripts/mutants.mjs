#!/usr/bin/env node
// node scripts/mutants.mjs [word ...]
// Mutation test: disables each decision in the security files, one at a time, and runs the tests that should fail.
// Prints the mutants that no test detects, and exits with code 1 if there are any. It changes compiled files, so run
// it in a separate clone after `npm run build`. Words select targets by file path; without words all targets run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'acorn';
import { fullAncestor } from 'acorn-walk';
import { EQUIVALENT, TARGETS } from './lib/mutant-targets.mjs';
import { root } from './lib/root.mjs';

/** A hanging test counts as failed after this multiple of its normal duration, plus the startup time. */
const TIMES_AS_LONG = 5;
const START_MS = 20_000;
const OPPOSITE = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '>='],
  ['<=', '>'],
  ['>', '<='],
  ['>=', '<'],
  ['&&', '||'],
  ['||', '&&'],
]);

/**
 * Returns whether a statement is a call with an effect. Skips `sync` and `close`, because no unit test can detect
 * their absence.
 */
function isDecision(expression, code) {
  let call = expression.type === 'AwaitExpression' ? expression.argument : expression;
  if (call.type !== 'CallExpression' || call.callee.type === 'Super') return false;
  const { object, property } = call.callee; // ignores a `catch` that only changes the message
  if (property?.name === 'catch' && object.type === 'CallExpression') call = object;
  return !/\b(?:sync\w*|close)$/.test(code.slice(call.callee.start, call.callee.end));
}

/** Returns each mutation as its position in the code and the replacement. */
function mutationsOf(code) {
  const found = [];
  const change = (node, text) => found.push({ start: node.start, end: node.end, text });
  fullAncestor(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        change(node.test, 'true');
        change(node.test, 'false');
        break;
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const opposite = OPPOSITE.get(node.operator);
        if (opposite === undefined) break;
        const [left, right] = [node.left, node.right].map(({ start, end }) =>
          code.slice(start, end),
        );
        change(node, `((${left}) ${opposite} (${right}))`);
        break;
      }
      case 'ThrowStatement':
        change(node, ';');
        break;
      case 'ExpressionStatement':
        if (isDecision(node.expression, code)) change(node, ';');
        break;
      case 'UnaryExpression':
        if (node.operator === '!') change(node, code.slice(node.argument.start, node.argument.end));
        break;
      default:
    }
  });
  return found;
}

const lineOf = (code, position) => code.slice(0, position).split('\n').length;
const shown = (text) => text.replace(/\s+/g, ' ').slice(0, 120);

/** Returns whether a test file fails or times out. */
async function fails(test, timeoutMs) {
  const runner = spawn(process.execPath, [test], {
    cwd: root,
    stdio: 'ignore',
    detached: true, // a separate process group, which includes the servers that the test starts
    env: { ...process.env, NODE_OPTIONS: '--enable-source-maps' }, // runs the modules instead of the bundle
  });
  const end = () => {
    try {
      process.kill(-runner.pid, 'SIGKILL');
    } catch {
      // The process group has already ended.
    }
  };
  const timer = setTimeout(end, timeoutMs);
  const [code] = await once(runner, 'exit');
  clearTimeout(timer);
  end();
  return code !== 0;
}

/** Returns each test file with a timeout from a run without mutation. Throws if a test fails without one. */
async function timed(tests) {
  const found = [];
  for (const test of tests) {
    const startMs = performance.now();
    if (await fails(test, 600_000)) throw new Error(`${test} fails without a mutation`);
    found.push({ test, timeoutMs: TIMES_AS_LONG * (performance.now() - startMs) + START_MS });
  }
  return found;
}

/** Returns whether one of the tests fails. Fast tests run first. */
async function isNoticed(tests) {
  for (const { test, timeoutMs } of tests) if (await fails(test, timeoutMs)) return true;
  return false;
}

const words = process.argv.slice(2);
const targets = TARGETS.filter(
  ({ file }) => words.length === 0 || words.some((word) => file.includes(word)),
);
const survivors = [];
for (const { file, tests: names } of targets) {
  const target = path.join(root, file);
  const code = fs.readFileSync(target, 'utf8');
  const tests = await timed(names);
  const equivalent = EQUIVALENT.filter((one) => file.includes(one.file));
  const counts = { killed: 0, survived: 0, equivalent: 0 };
  try {
    for (const { start, end, text } of mutationsOf(code)) {
      const original = shown(code.slice(start, end));
      const name = `${file}:${lineOf(code, start)}: ${original} -> ${shown(text)}`;
      if (equivalent.some((one) => name.includes(one.text))) {
        counts.equivalent += 1;
        continue;
      }
      fs.writeFileSync(target, code.slice(0, start) + text + code.slice(end));
      if (await isNoticed(tests)) {
        counts.killed += 1;
        continue;
      }
      counts.survived += 1;
      survivors.push(name);
      console.log(`survived: ${name}`);
    }
  } finally {
    fs.writeFileSync(target, code);
  }
  const { killed, survived } = counts;
  console.log(`${file}: ${killed} killed, ${survived} survived, ${counts.equivalent} equivalent`);
}
process.exitCode = survivors.length > 0 ? 1 : 0;

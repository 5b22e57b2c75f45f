#!/usr/bin/env node
// node scripts/mutants.mjs [word ...]
// Switches off, one at a time, every decision in the files that keep others out, and runs the tests that should notice.
// A mutant that no test notices is printed and makes the exit code 1. Works on the compiled files: run it in a clone that nobody
// else uses, after `npm run build`. No word: all targets; otherwise those whose file contains one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'acorn';
import { fullAncestor } from 'acorn-walk';
import { EQUIVALENT, TARGETS } from './lib/mutant-targets.mjs';
import { root } from './lib/root.mjs';

/** A mutant that makes its tests hang is noticed: they take so many times as long as they did without it, and a start. */
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

/** A call for what it does. Tests of durability kill the server to see what `sync` does, and nobody sees a file that is not closed. */
function isDecision(expression, code) {
  let call = expression.type === 'AwaitExpression' ? expression.argument : expression;
  if (call.type !== 'CallExpression' || call.callee.type === 'Super') return false;
  const { object, property } = call.callee; // how a failure is worded is no part of it
  if (property?.name === 'catch' && object.type === 'CallExpression') call = object;
  return !/\b(?:sync\w*|close)$/.test(code.slice(call.callee.start, call.callee.end));
}

/** Every change of one place: where it stands, and what stands there instead. */
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

/** Whether a file of tests fails, or has not ended in time. */
async function fails(test, timeoutMs) {
  const runner = spawn(process.execPath, [test], {
    cwd: root,
    stdio: 'ignore',
    detached: true, // a group of its own, with the servers that it starts
    env: { ...process.env, NODE_OPTIONS: '--enable-source-maps' }, // the modules run, not a bundle of them
  });
  const end = () => {
    try {
      process.kill(-runner.pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  };
  const timer = setTimeout(end, timeoutMs);
  const [code] = await once(runner, 'exit');
  clearTimeout(timer);
  end();
  return code !== 0;
}

/** Each file of tests with how long it may take, from a run without a change. */
async function timed(tests) {
  const found = [];
  for (const test of tests) {
    const startMs = performance.now();
    if (await fails(test, 600_000)) throw new Error(`${test} fails without a change`);
    found.push({ test, timeoutMs: TIMES_AS_LONG * (performance.now() - startMs) + START_MS });
  }
  return found;
}

/** Whether one of the tests fails; the quick ones are asked first. */
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

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlanningLimitExceeded } from './planning-limits.js';
import { ParserBreakdown, SyntaxFault, WasmParser } from './wasm-parser.js';

const FUEL = 100_000_000;

describe('WasmParser', () => {
  it('returns trees as JSON and errors with their position', async () => {
    const parser = await WasmParser.load();
    assert.match(parser.parse("SELECT 'ä€😀'", FUEL), /"SingleQuotedString": "ä€😀"/);
    assert.throws(
      () => parser.parse('SELECT 1 1 1', FUEL),
      (fault) => fault instanceof SyntaxFault && /Line: 1, Column: \d+/.test(fault.message),
    );
  });

  it('replaces its instance after a crash', async () => {
    const parser = await WasmParser.load();
    for (let round = 0; round < 5; round++) {
      assert.throws(() => parser.parse(`SELECT ${'1+'.repeat(50_000)}1`, FUEL), ParserBreakdown);
      assert.match(parser.parse('SELECT 1', FUEL), /"Number"/);
    }
  });

  it('stops when its fuel is used up and parses the next text', async () => {
    const parser = await WasmParser.load();
    // Each level is parsed in two ways, so thirty levels would take hours.
    const text = `SELECT ${'substr(not, '.repeat(30)}note`;
    for (let round = 0; round < 200; round++) {
      assert.throws(() => parser.parse(text, 20_000), PlanningLimitExceeded);
      assert.match(parser.parse('SELECT 1', 20_000), /"Number"/);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParserBreakdown, SyntaxFault, WasmParser } from './wasm-parser.js';

describe('the parser', () => {
  it('gives trees as JSON and faults with their place', async () => {
    const parser = await WasmParser.load();
    assert.match(parser.parse("SELECT 'ä€😀'"), /"SingleQuotedString": "ä€😀"/);
    assert.throws(
      () => parser.parse('SELECT 1 1 1'),
      (fault) => fault instanceof SyntaxFault && /Line: 1, Column: \d+/.test(fault.message),
    );
  });

  it('is replaced by a new one when a text has broken it', async () => {
    const parser = await WasmParser.load();
    for (let round = 0; round < 5; round++) {
      assert.throws(() => parser.parse(`SELECT ${'1+'.repeat(50_000)}1`), ParserBreakdown);
      assert.match(parser.parse('SELECT 1'), /"Number"/);
    }
  });
});

// Source: docs/spec, processing engine: trigger specifications in system.processing_engine_triggers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  parseArguments,
  pluginTemplate,
  specificationText,
  triggerInput,
} from './specification.js';

describe('Specifications of triggers', () => {
  it('are formatted as text', () => {
    for (const [json, text] of [
      ['{"every":{"duration":{"secs":90,"nanos":0}}}', 'every 1 min 30 s'],
      ['{"every":{"duration":{"secs":0,"nanos":500000000}}}', 'every 0.5 s'],
      ['{"schedule":{"schedule":"0 0 6 * * 1-5"}}', 'cron: 0 0 6 * * 1-5'],
      ['{"single_table_wal_write":{"table_name":"cpu"}}', 'on writes to cpu'],
      ['"all_tables_wal_write"', 'on writes to any table'],
      ['{"request_path":{"path":"hello"}}', 'on requests to /api/v3/engine/hello'],
      ['{"later":{}}', '{"later":{}}'],
      ['no JSON', 'no JSON'],
    ] as const) {
      assert.equal(specificationText(json), text);
    }
  });

  it('parses arguments as pairs', () => {
    assert.deepEqual(parseArguments('a=1, b = x=y\nc='), { a: '1', b: 'x=y', c: '' });
    assert.deepEqual(parseArguments(' '), {});
    assert.equal(parseArguments('a=1, nothing'), undefined);
  });

  it('name the input of a dry run', () => {
    assert.deepEqual(triggerInput('{"single_table_wal_write":{"table_name":"cpu"}}'), {
      ...{ kind: 'wal', table: 'cpu' },
    });
    for (const all of ['"all_tables_wal_write"', '{"all_tables_wal_write":{}}', 'broken']) {
      assert.deepEqual(triggerInput(all), { kind: 'wal', table: undefined });
    }
    assert.deepEqual(triggerInput('{"schedule":{"schedule":"0 0 6 * * 1-5"}}'), {
      ...{ kind: 'schedule', cron: '0 0 6 * * 1-5' },
    });
    assert.deepEqual(triggerInput('{"every":{"duration":{"secs":90,"nanos":0}}}'), {
      ...{ kind: 'schedule', cron: '* * * * * *' },
    });
    assert.deepEqual(triggerInput('{"request_path":{"path":"x"}}'), { kind: 'request', path: 'x' });
  });

  it('select the function of a new plugin', () => {
    for (const [specification, name] of [
      ['every:1h', 'process_scheduled_call'],
      ['cron:0 0 6 * * *', 'process_scheduled_call'],
      ['request:x', 'process_request'],
      ['table:cpu', 'process_writes'],
      ['all_tables', 'process_writes'],
    ] as const) {
      assert.ok(pluginTemplate(specification).startsWith(`def ${name}(`), specification);
    }
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parameterJson, parameterNames, parametersJson } from './parameters.js';

describe('parameters of a statement', () => {
  it('are found like on the server', () => {
    const macro = '$' + '{from}';
    const sql = `SELECT '$no', "$nor", $host -- $comment
      FROM t /* $neither */ WHERE a = $host AND b > $least AND time > ${macro}`;
    assert.deepEqual(parameterNames(sql, 'sql'), ['host', 'least']);
    const influxql = String.raw`SELECT "a\"$x" FROM cpu WHERE host =~ /^$y$/ AND n = $n AND s = 'it\'s $z'`;
    assert.deepEqual(parameterNames(influxql, 'influxql'), ['n']);
    assert.deepEqual(parameterNames('SELECT 4 / $a / $b', 'influxql'), ['a', 'b']);
  });

  it('keep all digits of numbers, and reject values of another type', () => {
    assert.equal(parameterJson('9223372036854775807', 'number'), '9223372036854775807');
    assert.equal(parameterJson(' -1.5e3 ', 'number'), '-1.5e3');
    for (const wrong of ['', '01', '1.', 'NaN', '1 2'])
      assert.equal(parameterJson(wrong, 'number'), undefined);
    assert.equal(parameterJson('true', 'boolean'), 'true');
    assert.equal(parameterJson('yes', 'boolean'), undefined);
    assert.equal(parameterJson(' a"b', 'text'), String.raw`" a\"b"`);
  });

  it('are sent as one object', () => {
    const search = { 'p.host': 'a', 'p.n': '7', 't.n': 'number', 'p.other': 'x', 't.m': 'number' };
    const text = 'SELECT $host, $n, $m';
    assert.deepEqual(JSON.parse(parametersJson(search, text, 'sql') ?? ''), { host: 'a', n: 7 });
    assert.equal(parametersJson(search, 'SELECT 1', 'sql'), undefined);
  });
});

// Source: query-languages, "Continuous queries"; the messages are those of InfluxDB 1.8.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printStatement } from '../ast/print.js';
import { ParseError } from './parse-error.js';
import { parseQuery } from './parse-query.js';

const printed = (text: string): string => parseQuery(text).map(printStatement).join('; ');

function refused(text: string, message: string): void {
  assert.throws(
    () => parseQuery(text),
    (error) => {
      assert.ok(error instanceof ParseError);
      assert.equal(error.message, `error parsing query: ${message}`, text);
      return true;
    },
  );
}

describe('CREATE CONTINUOUS QUERY', () => {
  it('prints the statement as InfluxDB 1.x stores it', () => {
    for (const text of [
      'CREATE CONTINUOUS QUERY myquery ON testdb RESAMPLE EVERY 1m FOR 1h BEGIN SELECT count(field1) INTO measure1 FROM myseries GROUP BY time(5m) END',
      'CREATE CONTINUOUS QUERY "my.query" ON testdb BEGIN SELECT count(field1) INTO "policy1"."my.measure" FROM myseries GROUP BY time(90m) END'.replace(
        '"policy1"',
        'policy1',
      ),
      'CREATE CONTINUOUS QUERY cq ON db BEGIN SELECT mean(value) INTO db."1y".:MEASUREMENT FROM db.autogen./.*/ GROUP BY time(1h, 15m), * END',
      'CREATE CONTINUOUS QUERY cq ON db RESAMPLE FOR 2h BEGIN SELECT max(v) AS top INTO t FROM (SELECT mean(v) FROM s GROUP BY time(1m)) GROUP BY time(1h) fill(0) END',
    ]) {
      assert.equal(printed(text), text);
      assert.equal(printed(text.toLowerCase()).toLowerCase(), text.toLowerCase());
    }
  });

  it('reports the position and the expected token', () => {
    const start = 'CREATE CONTINUOUS QUERY cq ON db';
    refused('CREATE CONTINUOUS', 'found EOF, expected QUERY at line 1, char 19');
    refused('CREATE CONTINUOUS QUERY', 'found EOF, expected identifier at line 1, char 25');
    refused(`${start} SELECT`, 'found SELECT, expected BEGIN at line 1, char 34');
    refused(`${start}\nBEGIN DROP`, 'found DROP, expected SELECT at line 2, char 7');
    refused(`${start} RESAMPLE BEGIN`, 'found BEGIN, expected EVERY, FOR at line 1, char 43');
    refused(`${start} RESAMPLE EVERY 5 BEGIN`, 'found 5, expected duration at line 1, char 49');
    refused(
      `${start} BEGIN SELECT mean(v) INTO t FROM s GROUP BY time(1m)`,
      'found EOF, expected END at line 1, char 87',
    );
  });

  it('requires INTO and GROUP BY time', () => {
    const start = 'CREATE CONTINUOUS QUERY cq ON db BEGIN SELECT mean(v)';
    refused(
      `${start} FROM s GROUP BY time(1m) END`,
      'found FROM, expected INTO at line 1, char 55',
    );
    const place = 'expected GROUP BY time(...) at line 1, char';
    refused(`${start} INTO t FROM s END`, `found s, ${place} 67`);
    refused(`${start} INTO t FROM s GROUP BY "host" END`, `found host, ${place} 78`);
  });

  it('refuses a FOR that is shorter than the interval', () => {
    const end = 'BEGIN SELECT mean(value) INTO cpu_mean FROM cpu';
    const message =
      'FOR duration must be >= GROUP BY time duration: must be a minimum of 10s, got 5s';
    refused(
      `CREATE CONTINUOUS QUERY cq ON db RESAMPLE FOR 5s ${end} GROUP BY time(10s) END`,
      message,
    );
    refused(
      `CREATE CONTINUOUS QUERY cq ON db RESAMPLE EVERY 10s FOR 5s ${end} GROUP BY time(5s) END`,
      message,
    );
  });
});

describe('DROP CONTINUOUS QUERY', () => {
  it('requires the name and the database', () => {
    assert.equal(printed('drop continuous query "a b" on d'), 'DROP CONTINUOUS QUERY "a b" ON d');
    refused('DROP CONTINUOUS', 'found EOF, expected QUERY at line 1, char 17');
    refused('DROP CONTINUOUS QUERY', 'found EOF, expected identifier at line 1, char 23');
    refused('DROP CONTINUOUS QUERY myquery', 'found EOF, expected ON at line 1, char 31');
    refused(
      'DROP CONTINUOUS QUERY myquery ON',
      'found EOF, expected identifier at line 1, char 34',
    );
  });
});

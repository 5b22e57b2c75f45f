import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from './logger.js';
import { redactText } from './redact.js';

const SECRET = 'apiv3_0123456789-abcDEF_xyz';

const logged = (write: (log: ReturnType<typeof createLogger>) => void): string => {
  const lines: string[] = [];
  write(createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } }));
  return lines.join('');
};

describe('createLogger', () => {
  it('writes one JSON line with level, time, the fields of the child, and the message', () => {
    const line = logged((log) =>
      log.child({ service: 'tsdb' }).warn({ lostBytes: 7 }, 'wal tail cut'),
    );
    const { time, ...rest } = JSON.parse(line);
    assert.deepEqual(rest, { level: 'warn', service: 'tsdb', lostBytes: 7, msg: 'wal tail cut' });
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('redacts secret fields for any value', () => {
    const line = logged((log) =>
      log.info(
        {
          token: 'hunter22',
          hook: { secret: 'hunter22' },
          req: { headers: { authorization: 'hunter22' } },
        },
        'x',
      ),
    );
    assert.doesNotMatch(line, /hunter22/);
    assert.equal(JSON.parse(line).token, '[redacted]');
  });

  it('redacts credentials in URLs, messages and error stacks', () => {
    const line = logged((log) => {
      log.info({ url: `/query?db=a&p=hunter22&q=SELECT+1` }, `got ${SECRET}`);
      log.error({ err: new Error(`refused ${SECRET}`) }, 'failed');
      log.warn({ err: new TypeError('cannot fetch https://me:hunter22@h/x') }, 'not sent');
    });
    assert.doesNotMatch(line, /hunter22|0123456789/);
    assert.match(line, /\/query\?db=a&p=\[redacted\]&q=SELECT\+1/);
  });
});

it('redactText does not change text without a credential', () => {
  const check = (text: string, expected = text) => assert.equal(redactText(text), expected);
  check('/write?db=p&rp=x&up=1');
  check('Token expired');
  check('Basic facts');
  check('Authorization: Token 0123456789', 'Authorization: Token [redacted]');
  check('Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [redacted]');
  check('/query?p=a%20b', '/query?p=[redacted]');
  check('/ping?api_key=a&b=1&secret=c', '/ping?api_key=[redacted]&b=1&secret=[redacted]');
  check('x sk_test_0123abc y rk_live_9', 'x sk_test_[redacted] y rk_live_[redacted]');
  check('GET http://u:p@ss@h:1/x failed', 'GET http://[redacted]@h:1/x failed');
  check('redis://:hunter22@h, https://h/x/@y', 'redis://[redacted]@h, https://h/x/@y');
  check('{"url":"http://h","mail":"a@b"}');
  check('sk_text pk_test_0123 risk_test_1');
  check(
    "CREATE USER a WITH PASSWORD 'x y' WITH ALL",
    'CREATE USER a WITH PASSWORD [redacted] WITH ALL',
  );
  check('set password for "a" = \'x\';', 'set password for "a" = [redacted];');
  check('/query?db=a&q=SET+PASSWORD+FOR+a=%27x%27&x=1', '/query?db=a&q=[redacted]&x=1');
  check('/query?q=SELECT+1&db=password');
  check("/query?q=CREATE+USER+a+WITH+PASSWORT+'x'", '/query?q=[redacted]');
  check("/query?q=SET+PASWORT+FOR+a='x'", '/query?q=[redacted]');
  check('/query?q=SELECT+*+FROM+user', '/query?q=SELECT+*+FROM+user');
  check("WHERE password = 'x'");
  check('it has a secret token');
});

it('redactText finds the passwords of connection strings and the options of CREATE SECRET', () => {
  const check = (text: string, expected: string) => assert.equal(redactText(text), expected);
  check("postgres_scan('host=h password=a/b c')", "postgres_scan('host=h password=[redacted] c')");
  check("-- PWD='it''s' x", '-- PWD=[redacted] x');
  check('{"q":"a PASSWORD=x\\\\y","n":1}', '{"q":"a PASSWORD=[redacted]","n":1}');
  check(
    "CREATE SECRET s (KEY_ID 'k', SECRET 'a''b', SESSION_TOKEN 'c')",
    "CREATE SECRET s (KEY_ID 'k', SECRET [redacted], SESSION_TOKEN [redacted])",
  );
});

it('redactText finds a credential in a query string in any encoding', () => {
  const check = (text: string, expected: string) => assert.equal(redactText(text), expected);
  check("/query?p=it's0SECRETLONG&db=a", '/query?p=[redacted]&db=a');
  check("/query?q=CREATE+USER+z+WITH+PASSWORD+'XYZ'&db=a", '/query?q=[redacted]&db=a');
  check("/query?db=a&q=SET%20PASSWOR%44%20FOR%20z='XYZ'", '/query?db=a&q=[redacted]');
  check('/query?db=a&%70=secret&x=1', '/query?db=a&%70=[redacted]&x=1');
  check('/query?u=kim;p=a;b?c&x=1', '/query?u=kim;p=[redacted]&x=1');
  check('/query?p=%zz#a\\b&x=1', '/query?p=[redacted]&x=1');
  check('{"url":"/query?p=a\\"b","status":1}', '{"url":"/query?p=[redacted]","status":1}');
  check('got http://h/x?next=http://h/y?p=x y', 'got http://h/x?next=http://h/y?p=[redacted] y');
});

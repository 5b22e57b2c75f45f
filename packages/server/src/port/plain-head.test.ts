import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPlainHeaders, readPlainTarget } from './plain-head.js';

const LINES = ['Host: h', 'Content-Length: 5'];
const readFor = (alsoKnown: readonly string[], lines: readonly string[]) =>
  readPlainHeaders(lines.join('\r\n'), new Set(alsoKnown));
const read = (...lines: readonly string[]) => readFor([], lines);

describe('readPlainTarget', () => {
  it('reads the request lines that clients send', () => {
    const url = '/write?db=a&q=%20+b';
    assert.deepEqual(readPlainTarget(`POST ${url} HTTP/1.1`), {
      ...{ method: 'POST', url },
      path: '/write',
    });
    assert.deepEqual(readPlainTarget('GET /ping HTTP/1.1'), {
      ...{ method: 'GET', url: '/ping' },
      path: '/ping',
    });
  });

  const leaves = (why: string, line: string) =>
    it(`leaves to the HTTP server ${why}`, () => assert.equal(readPlainTarget(line), undefined));
  leaves('another method', 'HEAD /ping HTTP/1.1');
  leaves('a method in small letters', 'get /ping HTTP/1.1');
  leaves('another version', 'POST /write?db=a HTTP/1.0');
  leaves('a whole address as target', 'POST http://h/write?db=a HTTP/1.1');
  leaves('a fragment', 'POST /write?db=a#b HTTP/1.1');
  leaves('a target with other bytes', 'POST /write?db=\x80 HTTP/1.1');
  leaves('two spaces in the request line', 'POST  /write?db=a HTTP/1.1');
});

describe('readPlainHeaders', () => {
  it('reads the headers that clients send', () => {
    const more = ['User-Agent: t/1 (x)', 'Accept: */*', 'Connection: Keep-Alive'];
    const { headers, ...rest } =
      read(...LINES, ...more, 'authorization:  Token t \t', 'Content-Encoding: gzip') ?? {};
    assert.deepEqual(rest, { host: 'h', contentLength: 5 });
    assert.deepEqual(
      { ...headers },
      {
        host: 'h',
        'content-length': '5',
        'user-agent': 't/1 (x)',
        accept: '*/*',
        connection: 'Keep-Alive',
        authorization: 'Token t',
        'content-encoding': 'gzip',
      },
    );
    assert.equal(read('Host: h')?.contentLength, undefined);
  });

  it('reads headers that mean something to who answers, each once', () => {
    const key = 'Idempotency-Key: k-1';
    const head = readFor(['idempotency-key'], [...LINES, key]);
    assert.equal(head?.headers['idempotency-key'], 'k-1');
    assert.equal(readFor(['idempotency-key'], [...LINES, key, key]), undefined);
    assert.equal(read(...LINES, key), undefined);
  });

  const leaves = (why: string, ...lines: readonly string[]) =>
    it(`leaves to the HTTP server ${why}`, () => assert.equal(read(...lines), undefined));
  const [host = '', length = ''] = LINES;
  leaves('no host', length);
  leaves('an empty body', host, 'Content-Length: 0');
  leaves('a length that is no number', host, 'Content-Length: +5');
  leaves('two lengths', ...LINES, 'Content-Length: 5');
  leaves('a body in chunks', host, 'Transfer-Encoding: chunked');
  leaves('a body in chunks beside a length', ...LINES, 'Transfer-Encoding: chunked');
  leaves('a connection that is not kept', ...LINES, 'Connection: close');
  leaves('a client that waits for leave', ...LINES, 'Expect: 100-continue');
  leaves('a header it does not know', ...LINES, 'Origin: http://x');
  leaves('a space before a colon', ...LINES, 'Accept : */*');
  leaves('a folded line', ...LINES, ' more');
  leaves('a bare line feed', ...LINES, 'Accept: */*\nContent-Length: 7');
  leaves('a bare carriage return', ...LINES, 'Accept: */*\rContent-Length: 7');
  leaves('other bytes in a value', ...LINES, 'User-Agent: \xe9');
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFastHeaders, readFastTarget } from './fast-head.js';

const LINES = ['Host: h', 'Content-Length: 5'];
const read = (...lines: readonly string[]) => readFastHeaders(lines.join('\r\n'));

describe('readFastTarget', () => {
  it('reads the request lines that clients send', () => {
    const url = '/write?db=a&q=%20+b';
    assert.deepEqual(readFastTarget(`POST ${url} HTTP/1.1`), { method: 'POST', url });
    assert.deepEqual(readFastTarget('GET /ping HTTP/1.1'), { method: 'GET', url: '/ping' });
  });

  const leaves = (why: string, line: string) =>
    it(`leaves to the HTTP server ${why}`, () => assert.equal(readFastTarget(line), undefined));
  leaves('a method whose answer has no body', 'HEAD /ping HTTP/1.1');
  leaves('another method', 'BREW /ping HTTP/1.1');
  leaves('an encoded character', 'GET /p%69ng HTTP/1.1');
  leaves('a method in small letters', 'get /ping HTTP/1.1');
  leaves('another version', 'POST /write?db=a HTTP/1.0');
  leaves('a whole address as target', 'POST http://h/write?db=a HTTP/1.1');
  leaves('a fragment', 'POST /write?db=a#b HTTP/1.1');
  leaves('a target with other bytes', 'POST /write?db=\x80 HTTP/1.1');
  leaves('two spaces in the request line', 'POST  /write?db=a HTTP/1.1');
});

describe('readFastHeaders', () => {
  it('reads the headers that clients send', () => {
    const more = ['User-Agent: t/1 (x)', 'Accept: */*', 'Connection: Keep-Alive'];
    const { headers, ...rest } =
      read(...LINES, ...more, 'authorization:  Token t \t', 'Content-Encoding: gzip') ?? {};
    assert.deepEqual(rest, { contentLength: 5 });
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

  it('reads headers of any name, each once', () => {
    const key = 'Idempotency-Key: k-1';
    assert.equal(read(...LINES, key)?.headers['idempotency-key'], 'k-1');
    assert.equal(read(...LINES, key, key), undefined);
    assert.equal(read(...LINES, '__proto__: x')?.headers['__proto__'], 'x');
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
  leaves('a name that is none', ...LINES, 'Or(igin: x');
  leaves('an empty value', ...LINES, 'Origin:');
  leaves('a wish for another protocol', ...LINES, 'Upgrade: h2c');
  leaves('a space before a colon', ...LINES, 'Accept : */*');
  leaves('a folded line', ...LINES, ' more');
  leaves('a bare line feed', ...LINES, 'Accept: */*\nContent-Length: 7');
  leaves('a bare carriage return', ...LINES, 'Accept: */*\rContent-Length: 7');
  leaves('other bytes in a value', ...LINES, 'User-Agent: \xe9');
});

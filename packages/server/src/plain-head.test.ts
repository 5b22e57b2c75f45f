import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPlainHead } from './plain-head.js';

const LINES = ['POST /write?db=a HTTP/1.1', 'Host: h', 'Content-Length: 5'];
const readFor = (alsoKnown: ReadonlySet<string> | undefined, lines: readonly string[]) =>
  readPlainHead(lines.join('\r\n'), () => alsoKnown);
const read = (...lines: readonly string[]) => readFor(new Set(), lines);

describe('readPlainHead', () => {
  it('reads the heads that clients send', () => {
    const more = ['User-Agent: t/1 (x)', 'Accept: */*', 'Connection: Keep-Alive'];
    assert.deepEqual(
      read(...LINES, ...more, 'authorization:  Token t \t', 'Content-Encoding: gzip'),
      {
        path: '/write',
        url: '/write?db=a',
        host: 'h',
        headers: Object.assign(Object.create(null), {
          host: 'h',
          'content-length': '5',
          'user-agent': 't/1 (x)',
          accept: '*/*',
          connection: 'Keep-Alive',
          authorization: 'Token t',
          'content-encoding': 'gzip',
        }),
        contentEncoding: 'gzip',
        contentLength: 5,
      },
    );
  });

  it('reads headers that mean something to who answers the path, each once', () => {
    const known = new Set(['idempotency-key']);
    const key = 'Idempotency-Key: k-1';
    const head = readFor(known, [...LINES, key]);
    assert.equal(head?.headers['idempotency-key'], 'k-1');
    assert.equal(readFor(known, [...LINES, key, key]), undefined);
    assert.equal(read(...LINES, key), undefined);
  });

  it('leaves to the HTTP server a path that nobody answers', () => {
    assert.equal(readFor(undefined, LINES), undefined);
  });

  const leaves = (why: string, ...lines: readonly string[]) =>
    it(`leaves to the HTTP server ${why}`, () => assert.equal(read(...lines), undefined));
  const [requestLine = '', host = '', length = ''] = LINES;
  leaves('another method', 'GET /write?db=a HTTP/1.1', host, length);
  leaves('another version', 'POST /write?db=a HTTP/1.0', host, length);
  leaves('a whole address as target', 'POST http://h/write?db=a HTTP/1.1', host, length);
  leaves('a fragment', 'POST /write?db=a#b HTTP/1.1', host, length);
  leaves('a target with other bytes', 'POST /write?db=\x80 HTTP/1.1', host, length);
  leaves('two spaces in the request line', 'POST  /write?db=a HTTP/1.1', host, length);
  leaves('no host', requestLine, length);
  leaves('no length', requestLine, host);
  leaves('an empty body', requestLine, host, 'Content-Length: 0');
  leaves('a length that is no number', requestLine, host, 'Content-Length: +5');
  leaves('two lengths', ...LINES, 'Content-Length: 5');
  leaves('a body in chunks', requestLine, host, 'Transfer-Encoding: chunked');
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

// Source: gRPC over HTTP/2, "Trailers-Only"; RFC 9113, section 8.1: a response may be complete before the request is.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

const CALL_COUNT = 60;
const PATH = '/arrow.flight.protocol.FlightService/DoGet';

it('a call of Flight without a credential ends, whether or not its body does', async () => {
  await using server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const session = connect(server.url);
  try {
    for (let call = 0; call < CALL_COUNT; call++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': PATH,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const answered = once(stream, 'response');
      stream.write(Buffer.alloc(1 + (call % 5) * 5000, 'a'));
      if (call % 2 === 0) stream.end();
      const [headers] = (await answered) as [Record<string, string>];
      assert.equal(headers['grpc-status'], '16');
      stream.resume();
      if (!stream.closed) await once(stream, 'close');
      assert.equal(stream.rstCode, 0);
    }
  } finally {
    session.destroy();
  }
});

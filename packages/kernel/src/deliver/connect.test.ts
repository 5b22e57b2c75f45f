import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { connectTo } from './connect.js';
import type { EgressProxy } from './egress-proxy.js';
import { TargetGuard } from './target-guard.js';

const pem = (name: string): string =>
  readFileSync(new URL(`../../../../tests/harness/tls/first-${name}.pem`, import.meta.url), 'utf8');

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

describe('connectTo', () => {
  const guard = new TargetGuard({ allowed: ['127.0.0.0/8'] });
  const noLookup = async (): Promise<never> => assert.fail('looked up');
  const options = () => ({ insecure: false, signal: AbortSignal.timeout(5000) });
  const failureIs = (failure: string) => (error: Error) =>
    Reflect.get(error, 'failure') === failure;

  it('uses TLS for an https URL, and never returns a plain connection for it', async () => {
    const listener = createServer((socket) => {
      socket.on('error', () => {}); // reset by the aborting client
      socket.end('no TLS');
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const settings = { guard, lookup: noLookup, authorities: [], proxy: undefined };
    await assert.rejects(connectTo(new URL(`https://127.0.0.1:${port}/`), settings, options()), {
      name: 'TransportFailed',
    });
    // An address needs no lookup.
    const plain = await connectTo(new URL(`http://127.0.0.1:${port}/`), settings, options());
    plain.destroy();
    listener.close();
  });

  it('distinguishes an unknown name from an aborted delivery', async () => {
    const url = new URL('http://nobody.example/');
    const about = { guard, authorities: [], proxy: undefined };
    const unknown = async (): Promise<never> => {
      throw new Error('ENOTFOUND');
    };
    await assert.rejects(
      connectTo(url, { ...about, lookup: unknown }, options()),
      failureIs('host_unreachable'),
    );
    const giving = new AbortController();
    const slow = async (): Promise<never> => {
      giving.abort(new Error('given up'));
      return await new Promise<never>(() => {});
    };
    await assert.rejects(
      connectTo(url, { ...about, lookup: slow }, { insecure: false, signal: giving.signal }),
      { message: 'given up' },
    );
    await assert.rejects(
      connectTo(url, { ...about, lookup: unknown }, { insecure: false, signal: giving.signal }),
      { message: 'given up' },
    );
  });

  it('connects to the checked address after a single lookup', async () => {
    const listener = createServer((socket) => socket.end());
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    // The name resolves to another address at each lookup.
    const responses = [
      [v4('10.0.0.7'), v4('127.0.0.1')],
      [v4('10.0.0.7')],
      [v4('169.254.169.254')],
    ];
    let askedCount = 0;
    const settings = {
      guard: new TargetGuard({ allowed: ['127.0.0.0/8'] }),
      lookup: async () => responses[askedCount++] ?? [],
      authorities: [],
      proxy: undefined,
    };
    const url = new URL(`http://rebound.example:${port}/`);
    const options = { insecure: false, signal: AbortSignal.timeout(5000) };
    const socket = await connectTo(url, settings, options);
    assert.equal(askedCount, 1);
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    for (const blocked of ['10.0.0.7', '169.254.169.254']) {
      await assert.rejects(connectTo(url, settings, options), (error: Error) => {
        assert.equal(Reflect.get(error, 'failure'), 'host_unreachable');
        assert.match(String(error.cause), new RegExp(`blocked address: ${blocked}`));
        return true;
      });
    }
    listener.close();
  });

  it('verifies certificates unless told not to, and sends the server name', async (t) => {
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: null) => void): void => {
      names.push(name);
      done(null);
    };
    const server = createTlsServer({ key: pem('key'), cert: pem('cert'), SNICallback });
    server.on('tlsClientError', () => {});
    server.on('secureConnection', (socket) => socket.on('error', () => {}));
    const closed: Promise<unknown>[] = [];
    server.on('connection', (socket) => closed.push(once(socket, 'close')));
    const port = await listening(t, server);
    const connect = async (
      host: string,
      more: { readonly ca?: string; readonly insecure?: boolean },
    ) => {
      const authorities = more.ca === undefined ? [] : [more.ca];
      const settings = {
        guard,
        lookup: async () => [v4('127.0.0.1')],
        authorities,
        proxy: undefined,
      };
      const wanted = { insecure: more.insecure ?? false, signal: AbortSignal.timeout(5000) };
      (await connectTo(new URL(`https://${host}:${port}/`), settings, wanted)).destroy();
    };
    const refused = failureIs('certificate_refused');
    await assert.rejects(connect('localhost', {}), refused);
    await connect('localhost', { insecure: true });
    await connect('localhost', { ca: pem('cert') });
    await connect('127.0.0.1', { ca: pem('cert') });
    // The certificate has a known authority but another host name.
    await assert.rejects(connect('other.example', { ca: pem('cert') }), refused);
    assert.deepEqual(names, ['localhost', 'localhost', 'localhost', 'other.example']);
    await Promise.all(closed); // no connection leaks
  });

  it('closes the connection of an aborted handshake', async (t) => {
    const server = createServer((socket) => socket.on('error', () => {}).resume());
    const port = await listening(t, server);
    const arrived = once(server, 'connection');
    const giving = new AbortController();
    const settings = { guard, lookup: noLookup, authorities: [], proxy: undefined };
    const wanted = { insecure: false, signal: giving.signal };
    const connecting = connectTo(new URL(`https://127.0.0.1:${port}/`), settings, wanted);
    const [socket] = (await arrived) as [Socket];
    await once(socket, 'data'); // The handshake has started.
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    giving.abort(new Error('given up'));
    await assert.rejects(connecting, { message: 'given up' });
    await closed;
  });

  it('connects through the proxy to a checked address', async () => {
    const asked: unknown[] = [];
    const given = new Socket();
    const proxy = {
      isUsedFor: (host: string) => host !== 'direct.example',
      open: async ({ address, port }: { address: string; port: number }) => {
        asked.push([address, port]);
        return given;
      },
    } as unknown as EgressProxy; // the only method used
    const settings = {
      guard,
      lookup: async () => [v4('10.0.0.7'), v4('127.0.0.9')],
      authorities: [],
      proxy,
    };
    assert.equal(await connectTo(new URL('http://a.example:81/'), settings, options()), given);
    assert.deepEqual(asked, [['127.0.0.9', 81]]);
    // Nothing listens on this port.
    const direct = connectTo(new URL('http://direct.example:9/'), settings, options());
    await assert.rejects(direct, failureIs('connection_lost'));
    assert.equal(asked.length, 1);
  });

  it('tries the addresses of a name one after the other until aborted', async (t) => {
    const port = await listening(
      t,
      createServer((socket) => socket.end()),
    );
    const lookup = async () => [v4('127.0.0.9'), v4('127.0.0.1')];
    const settings = { guard, lookup, authorities: [], proxy: undefined };
    const socket = await connectTo(new URL(`http://a.example:${port}/`), settings, options());
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    const signal = AbortSignal.abort(new Error('given up'));
    const late = { ...settings, lookup: async () => assert.fail('looked up') };
    await assert.rejects(
      connectTo(new URL('http://127.0.0.1:9/'), late, { insecure: false, signal }),
      {
        message: 'given up',
      },
    );
  });

  it('aborts during a lookup with the reason of the signal', async () => {
    const giving = new AbortController();
    const reason = new Error('given up');
    const settings = { guard, authorities: [], proxy: undefined };
    const silent = { ...settings, lookup: () => new Promise<never>(() => {}) };
    const url = new URL('http://a.example/');
    const asking = connectTo(url, silent, { insecure: false, signal: giving.signal });
    setImmediate(() => giving.abort(reason));
    await assert.rejects(asking, (error) => error === reason);
  });
});

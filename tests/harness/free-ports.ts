import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

const MAX_TRY_COUNT = 1000;

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Returns free ports of 127.0.0.1, for programs that cannot choose one. @param below exclusive upper bound of the ports. */
export async function freePorts(count: number, below = 65_536): Promise<readonly number[]> {
  const servers: Server[] = []; // all listen until the end, so that no port is returned twice
  const ports: number[] = [];
  while (ports.length < count && servers.length < MAX_TRY_COUNT) {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on TCP
    if (port < below) ports.push(port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (ports.length < count) throw new Error(`no ${count} ports below ${below} are free`);
  return ports;
}

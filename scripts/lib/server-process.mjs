import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cli } from './root.mjs';

const START_TIMEOUT_MS = 60_000;
const MAX_KEPT_LOG_LINES = 200;

/**
 * A server of our own in a process of its own, on a free loopback port.
 * @returns when the port answers: the address is in the log, so no port has to be guessed.
 */
export async function startServerProcess({
  dataDir,
  flags = [],
  env = {},
  nodeFlags = [],
  program = cli,
}) {
  const startMs = performance.now();
  const child = spawn(
    process.execPath,
    [...nodeFlags, program, 'serve', '--data-dir', dataDir, '--http-bind', '127.0.0.1:0', ...flags],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...ownEnvironment(), ...env } },
  );
  const ended = once(child, 'exit');
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  ended.then(() => process.off('exit', killWithUs));
  const log = [];
  const url = await firstAddress(child, log);
  const end = async (signal) => {
    child.kill(signal);
    const [code] = await ended;
    return code;
  };
  return {
    url,
    pid: child.pid,
    startMs: performance.now() - startMs,
    /** Last lines of the log, for a message when something is wrong. */
    log,
    /** Lets the server finish its work; gives the exit code. */
    stop: () => end('SIGTERM'),
    /** As a power cut for the process: nothing is flushed, nothing is said. */
    kill: () => end('SIGKILL'),
  };
}

/** Names that tests alone know are no settings, and a server refuses what it does not know. */
const ownEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PLINTH_TEST_')),
  );

function firstAddress(child, log) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`the server did not start: ${why}\n${log.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('no address in the log');
    }, START_TIMEOUT_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`exit code ${code}`);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      if (log.length > MAX_KEPT_LOG_LINES) log.shift();
      const address = addressIn(line);
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}

function addressIn(line) {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line).address;
  } catch {
    return undefined; // A line of another program, such as a warning of Node.
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cli } from './root.mjs';

const START_TIMEOUT_MS = 60_000;
const MAX_KEPT_LOG_LINES = 200;

/**
 * Starts a server in a separate process on a free loopback port.
 * @returns once the server listens. Its address is read from the log.
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
    /** Last lines of the log, for error messages. */
    log,
    /** Stops the server gracefully. @returns the exit code. */
    stop: () => end('SIGTERM'),
    /** Kills the process. It flushes and logs nothing. */
    kill: () => end('SIGKILL'),
  };
}

/** Removes the variables of the test harness. They are not settings, and a server rejects unknown `PLINTH_` variables. */
const ownEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PLINTH_TEST_')),
  );

function firstAddress(child, log) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`the server did not start: ${why}\n${log.join('\n')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('its log contains no address');
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Compiled entry of the `plinth` command. */
export const CLI = fileURLToPath(new URL('../../../packages/cli/dist/cli.cjs', import.meta.url));

const TIMEOUT_MS = 60_000;

/**
 * Prints a line with the test file for each started server, for the report of `scripts/test.mjs`. `runCli` does not count: its
 * `serve` calls are expected to fail.
 */
export async function countStart(): Promise<void> {
  const file = process.env['PLINTH_TEST_STARTS'];
  if (file !== undefined) await appendFile(file, `${process.argv[1]}\n`);
}

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `plinth` command to its end, without the caller's environment variables that name a server. */
export async function runCli(
  args: readonly string[],
  options: {
    readonly input?: string | Uint8Array;
    readonly env?: Record<string, string>;
    /** Runs as this user and group; only root can do that. */
    readonly uid?: number;
  } = {},
): Promise<CliRun> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(PLINTH|INFLUXDB3)_/.test(name),
  );
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: 'pipe',
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => {}); // A command that fails early does not read its input.
  child.stdin.end(options.input ?? '');
  const exited = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await exited;
  return { code: child.exitCode, stdout, stderr };
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

const RUN_TIMEOUT_MS = 120_000;

/** Runs a program to its end, without blocking this process. @returns its output; exit codes other than 0 are failures */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs?: number;
  } = {},
): Promise<string> {
  const child = spawn(command, args, {
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    timeout: options.timeoutMs ?? RUN_TIMEOUT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
    });
  }
  const code = await new Promise((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${output}`);
  return output;
}
